import type { TFunction } from 'i18next';
import { visible } from '../../lib/visible.ts';

/** Kinds and verbs of audit entries with a text; unknown ones of a newer master are shown unchanged. */
export const auditKinds = ['job', 'run', 'fire', 'user', 'token', 'session', 'login-code', 'worker', 'channel', 'secret', 'view', 'hook', 'lock', 'pool', 'maintenance', 'defaults', 'record', 'cluster'] as const;
export const auditVerbs = [
  'create', 'replace', 'patch', 'rollback', 'pause', 'resume', 'inherit', 'delete', 'run', 'kill', 'approve', 'reject', 'backfill', 'retry', 'acknowledge', 'unacknowledge', 'login', 'login_failed', 'logout', 'password', 'bootstrap', 'reset-admin', 'test', 'reseal', 'recover', 'release', 'rotate',
] as const;

export function kindText(t: TFunction, kind: string): string {
  const known = auditKinds.find((k) => k === kind);
  return known ? t(`audit.kinds.${known}`) : kind;
}

export function verbText(t: TFunction, verb: string): string {
  const known = auditVerbs.find((v) => v === verb);
  return known ? t(`audit.verbs.${known}`) : verb;
}

/** The verb of an entry: a save and a patch both changed the object. The filter distinguishes them. */
export function rowVerb(t: TFunction, verb: string): string {
  return verbText(t, verb === 'replace' ? 'patch' : verb);
}

/** Returns the name of a user or a token, or of the part of the server that made a change: no user has a name with a space. */
export function actorText(t: TFunction, name: string): string {
  return name === 'first start' ? t('access.firstStart') : visible(name);
}
