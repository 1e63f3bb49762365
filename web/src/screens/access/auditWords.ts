import type { TFunction } from 'i18next';

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
