import type { RunFilter } from '../../api/runs.ts';
import { statuses } from '../../api/runs.ts';
import type { RunStatus } from '../../api/types.ts';
import type { RunSearch } from '../../lib/searchParams.ts';

const hour = 3_600_000;

/** Relative ranges, in milliseconds from now. */
const stretches = { hour: -hour, day: -24 * hour, week: -7 * 24 * hour };

/** Common combinations of statuses. */
export const groups = {
  trouble: ['failed', 'timed_out', 'lost', 'missed', 'refused'],
  going: ['waiting', 'running'],
} as const satisfies Record<string, readonly RunStatus[]>;

/** Parses an exit code; undefined if invalid. */
export function exitCodeOf(text: string | undefined): number | undefined {
  return text !== undefined && /^\d{1,3}$/.test(text) && Number(text) <= 255 ? Number(text) : undefined;
}

/** Returns the query parameters of the API. */
export function filterOf(search: RunSearch): RunFilter {
  const { job, worker, cause, range, q } = search;
  const named = search.status?.split(',') ?? [];
  const custom = range === 'custom';
  return {
    job, worker, cause, q, exitCode: exitCodeOf(search.exitCode), statuses: statuses.filter((status) => named.includes(status)),
    from: custom ? search.from : range && stretches[range], to: custom ? search.to : undefined,
  };
}

/** Returns the address without defaults. */
export function cleaned(search: RunSearch): RunSearch {
  const custom = search.range === 'custom';
  const kept = { ...search, from: custom ? search.from : undefined, to: custom ? search.to : undefined };
  return Object.fromEntries(Object.entries(kept).filter(([, value]) => value !== undefined && value !== '')) as RunSearch;
}
