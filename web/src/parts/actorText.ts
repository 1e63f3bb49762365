import type { TFunction } from 'i18next';
import { visible } from '../lib/visible.ts';

const hook = 'hook:';

/** Names a user, a token, a web hook or the first start of a server, as stored: names of users have no space or colon. */
export function actorText(t: TFunction, name: string): string {
  if (name === 'first start') return t('actor.firstStart');
  return name.startsWith(hook) ? t('actor.hook', { name: visible(name.slice(hook.length)) }) : visible(name);
}
