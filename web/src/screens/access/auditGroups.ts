// Joins the entries of one request on many objects, such as a bulk pause.

import type { AuditEntry } from '../../api/types.ts';
import { changesOf } from '../../lib/changes.ts';

// The entries of a request are written one after the other. Requests have no id in the audit.
const apart = 1000;

const sameRequest = (a: AuditEntry, b: AuditEntry) =>
  a.verb === b.verb && a.kind === b.kind && a.actor.name === b.actor.name && a.actor.user === b.actor.user && a.actor.token === b.actor.token && a.actor.remote === b.actor.remote && a.actor.note === b.actor.note &&
  Math.abs(Date.parse(a.at) - Date.parse(b.at)) <= apart;

/** Returns the entries, those next to each other that one caller wrote at once, of one kind and with one note, together. */
export function groupsOf(entries: readonly AuditEntry[]): AuditEntry[][] {
  const groups: AuditEntry[][] = [];
  for (const entry of entries) {
    const group = groups.at(-1);
    const last = group?.at(-1);
    if (group && last && sameRequest(last, entry)) group.push(entry);
    else groups.push([entry]);
  }
  return groups;
}

// Every change of a job changes these.
const bookkeeping = new Set(['updatedAt', 'updatedBy', 'number', 'version']);

/** Returns the title that a job had after an entry, or before its deletion. */
export function titleIn({ kind, before, after }: Pick<AuditEntry, 'kind' | 'before' | 'after'>): string | undefined {
  const side = after ?? before;
  if (kind !== 'job' || typeof side !== 'object' || side === null) return undefined;
  const title = (side as Record<string, unknown>)['title'];
  return typeof title === 'string' && title !== '' ? title : undefined;
}

/** Returns the fields that an edit changed, by their first names; those of a patch, a save and a rollback alike. */
export function fieldsOf(entry: AuditEntry): string[] {
  if (!['replace', 'patch', 'rollback'].includes(entry.verb)) return [];
  const fields = changesOf(entry.before, entry.after).map(({ path }) => path.split(/[.[]/)[0] ?? '');
  return [...new Set(fields)].filter((field) => field !== '' && !bookkeeping.has(field));
}
