// The form of a channel, and the request for it.

import type { Channel, ChannelDefinition } from '../api/types.ts';

export type ChannelKind = ChannelDefinition['kind'];

/** The fields of a channel that are secret: they are never shown again. */
export type SecretField = 'url' | 'secret' | 'key' | 'chat';

interface Fields extends Partial<Record<SecretField, 'required' | 'optional'>> {
  /** Messages are in the channel's language. */
  language?: true;
}

/** The fields of each kind. */
const fieldsOf: Record<ChannelKind, Fields> = {
  webhook: { url: 'required', secret: 'optional' },
  mail: { language: true },
  slack: { url: 'required', language: true },
  pagerduty: { key: 'required', url: 'optional', language: true },
  teams: { url: 'required', language: true },
  discord: { url: 'required', language: true },
  mattermost: { url: 'required', language: true },
  telegram: { key: 'required', chat: 'required', url: 'optional', language: true },
  dingtalk: { url: 'required', secret: 'optional', language: true },
  feishu: { url: 'required', secret: 'optional', language: true },
  wecom: { url: 'required', language: true },
  ntfy: { url: 'required', key: 'optional', language: true },
  opsgenie: { key: 'required', url: 'optional', language: true },
  ping: { url: 'required', language: true },
};

/** All kinds, in the order in which they are offered. */
export const channelKinds = Object.keys(fieldsOf) as ChannelKind[];

const secretFields: readonly SecretField[] = ['url', 'key', 'chat', 'secret'];

/** Returns the secret fields of a kind, in the order of the dialog. */
export const secretsOf = (kind: ChannelKind): SecretField[] => secretFields.filter((field) => fieldsOf[kind][field]);

export const isRequired = (kind: ChannelKind, field: SecretField) => fieldsOf[kind][field] === 'required';

/** Reports whether messages to a kind are in the channel's language. */
export const hasLanguage = (kind: ChannelKind) => fieldsOf[kind].language === true;

/** Reports whether this version of the console knows a kind: a newer master may have others. */
export const isKnownKind = (kind: string): kind is ChannelKind => kind in fieldsOf;

export interface ChannelForm {
  name: string;
  kind: ChannelKind;
  url: string;
  secret: string;
  key: string;
  chat: string;
  newSecret: boolean;
  language: 'en' | 'zh';
  /** Mail addresses, as typed. */
  to: string;
  disabled: boolean;
}

/** Returns the form of a channel; a new one is in the language of the console. */
export function channelForm(channel: Channel | undefined, language: string): ChannelForm {
  return {
    name: channel?.name ?? '',
    kind: channel && isKnownKind(channel.kind) ? channel.kind : 'webhook',
    url: '',
    secret: '',
    key: '',
    chat: '',
    newSecret: false,
    language: (channel ? channel.language : language) === 'zh' ? 'zh' : 'en',
    to: (channel?.to ?? []).join('\n'),
    disabled: channel?.disabled ?? false,
  };
}

/** Returns the addresses of a text, separated by spaces, commas, semicolons or lines. */
export function addressesOf(text: string): string[] {
  return text.split(/[\s,;，；、]+/).filter((address) => address !== '');
}

/** Returns the request; secret fields of an existing channel stay if they are empty. */
export function definitionOfChannel(form: ChannelForm): ChannelDefinition {
  const { kind, newSecret, language, to, disabled } = form;
  const fresh = kind === 'webhook' && newSecret;
  const given = secretsOf(kind).map((field) => [field, form[field].trim()] as const).filter(([field, text]) => text !== '' && !(fresh && field === 'secret'));
  return {
    kind,
    ...Object.fromEntries(given),
    ...(fresh && { newSecret }),
    ...(hasLanguage(kind) && { language }),
    ...(kind === 'mail' && { to: addressesOf(to) }),
    ...(disabled && { disabled }),
  };
}
