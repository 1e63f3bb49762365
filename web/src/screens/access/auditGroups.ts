// Joins the entries of one request on many objects, such as a bulk pause.

import type { AuditEntry } from '../../api/types.ts';
import { changesOf } from '../../lib/changes.ts';

// The entries of a request are written one after the other. Those of older versions lack its id.
const apart = 1000;

const sameRequest = (a: AuditEntry, b: AuditEntry) =>
  a.verb === b.verb && a.kind === b.kind && a.actor.name === b.actor.name && a.actor.user === b.actor.user && a.actor.token === b.actor.token && a.actor.remote === b.actor.remote && a.actor.note === b.actor.note &&
  Math.abs(Date.parse(a.at) - Date.parse(b.at)) <= apart;

/**
 * Returns the entries, those of one request together, in the place of its newest one. Without its id, these are the ones
 * next to each other that one caller wrote at once, of one kind and with one note.
 */
export function groupsOf(entries: readonly AuditEntry[]): AuditEntry[][] {
  const groups: AuditEntry[][] = [];
  const of = new Map<string, AuditEntry[]>();
  for (const entry of entries) {
    const { request } = entry.actor;
    const last = groups.at(-1)?.at(-1);
    const group = request !== undefined ? of.get(request) : last && last.actor.request === undefined && sameRequest(last, entry) ? groups.at(-1) : undefined;
    if (group) {
      group.push(entry);
      continue;
    }
    groups.push([entry]);
    if (request !== undefined) of.set(request, groups.at(-1) ?? []);
  }
  return groups;
}

/** Returns the different values of entries, most frequent ones first. */
export function distinct(entries: readonly AuditEntry[], of: (entry: AuditEntry) => string): string[] {
  const counts = new Map<string, number>();
  for (const entry of entries) counts.set(of(entry), (counts.get(of(entry)) ?? 0) + 1);
  return [...counts].sort((a, b) => b[1] - a[1]).map(([value]) => value);
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
