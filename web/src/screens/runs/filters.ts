import type { RunFilter } from '../../api/runs.ts';
import { statuses } from '../../api/runs.ts';
import type { RunStatus } from '../../api/types.ts';
import type { RunSearch } from '../../lib/searchParams.ts';

const hour = 3_600_000;

/** What moves with the clock, in milliseconds from now. */
const stretches = { hour: -hour, day: -24 * hour, week: -7 * 24 * hour };

/** Statuses that are asked for together. */
export const groups = {
  trouble: ['failed', 'timed_out', 'lost', 'missed', 'refused'],
  going: ['waiting', 'running'],
} as const satisfies Record<string, readonly RunStatus[]>;

/** The exit code that a text names; undefined for a text that names none. */
export function exitCodeOf(text: string | undefined): number | undefined {
  return text !== undefined && /^\d{1,3}$/.test(text) && Number(text) <= 255 ? Number(text) : undefined;
}

/** What the server is asked for. */
export function filterOf(search: RunSearch): RunFilter {
  const { job, worker, cause, range, q } = search;
  const named = search.status?.split(',') ?? [];
  const custom = range === 'custom';
  return {
    job, worker, cause, q, exitCode: exitCodeOf(search.exitCode), statuses: statuses.filter((status) => named.includes(status)),
    from: custom ? search.from : range && stretches[range], to: custom ? search.to : undefined,
  };
}

/** The address without what says nothing. */
export function cleaned(search: RunSearch): RunSearch {
  const custom = search.range === 'custom';
  const kept = { ...search, from: custom ? search.from : undefined, to: custom ? search.to : undefined };
  return Object.fromEntries(Object.entries(kept).filter(([, value]) => value !== undefined && value !== '')) as RunSearch;
}
