import type { AuditEntry } from '../../api/types.ts';
import { toCsv } from '../../lib/csv.ts';

/** The job of an entry about a run; undefined for other kinds, and for entries that do not name it. */
export function jobOf({ kind, before, after }: Pick<AuditEntry, 'kind' | 'before' | 'after'>): string | undefined {
  if (kind !== 'run') return undefined;
  for (const side of [after, before]) {
    const job = typeof side === 'object' && side !== null ? (side as Record<string, unknown>)['job'] : undefined;
    if (typeof job === 'string' && job !== '') return job;
  }
  return undefined;
}

const head = ['at', 'actor', 'user', 'token', 'remote', 'verb', 'kind', 'name', 'job', 'note', 'before', 'after', 'seq', 'hash', 'id'];

const json = (value: unknown) => (value === undefined ? '' : JSON.stringify(value));

/** One line per entry; names and times as in the API, for programs. */
export function auditAsCsv(entries: readonly AuditEntry[]): string {
  return toCsv([
    head,
    ...entries.map((entry) => [
      entry.at, entry.actor.name, entry.actor.user ?? '', entry.actor.token ?? '', entry.actor.remote ?? '', entry.verb, entry.kind, entry.name, jobOf(entry) ?? '', entry.actor.note ?? '',
      json(entry.before), json(entry.after), entry.seq === undefined ? '' : String(entry.seq), entry.hash ?? '', entry.id,
    ]),
  ]);
}
