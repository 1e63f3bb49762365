// The form of a channel, and the request for it.

import type { Channel, ChannelDefinition } from '../api/types.ts';

export interface ChannelForm {
  name: string;
  kind: ChannelDefinition['kind'];
  url: string;
  secret: string;
  newSecret: boolean;
  /** Mail addresses, as typed. */
  to: string;
  disabled: boolean;
}

export function channelForm(channel: Channel | undefined): ChannelForm {
  return {
    name: channel?.name ?? '',
    kind: channel?.kind ?? 'webhook',
    url: '',
    secret: '',
    newSecret: false,
    to: (channel?.to ?? []).join('\n'),
    disabled: channel?.disabled ?? false,
  };
}

/** Returns the addresses of a text, separated by spaces, commas, semicolons or lines. */
export function addressesOf(text: string): string[] {
  return text.split(/[\s,;，；、]+/).filter((address) => address !== '');
}

/** Returns the request; URL and secret of an existing webhook stay if they are empty. */
export function definitionOfChannel({ kind, url, secret, newSecret, to, disabled }: ChannelForm): ChannelDefinition {
  return {
    kind,
    ...(kind === 'mail' ? { to: addressesOf(to) } : { ...(url.trim() !== '' && { url: url.trim() }), ...(newSecret ? { newSecret } : secret.trim() !== '' && { secret: secret.trim() }) }),
    ...(disabled && { disabled }),
  };
}
