import type { RunFilter } from '../../api/runs.ts';
import { statuses } from '../../api/runs.ts';
import type { RunStatus } from '../../api/types.ts';
import { endsOfRange } from '../../lib/runRange.ts';
import { troubleStatuses } from '../../lib/troubles.ts';
import type { RunSearch } from '../../lib/searchParams.ts';

/** Common combinations of statuses. */
export const groups = {
  trouble: troubleStatuses,
  going: ['waiting', 'running'],
} as const satisfies Record<string, readonly RunStatus[]>;

/** Parses an exit code; undefined if invalid. */
export function exitCodeOf(text: string | undefined): number | undefined {
  return text !== undefined && /^\d{1,3}$/.test(text) && Number(text) <= 255 ? Number(text) : undefined;
}

/** Returns the query parameters of the API. */
export function filterOf(search: RunSearch): RunFilter {
  const { job, worker, cause, q, flowRun } = search;
  const named = search.status?.split(',') ?? [];
  return {
    job, worker, cause, q, flowRun, exitCode: exitCodeOf(search.exitCode), statuses: statuses.filter((status) => named.includes(status)),
    ...endsOfRange(search),
  };
}

/** Returns the address without defaults. */
export function cleaned(search: RunSearch): RunSearch {
  const custom = search.range === 'custom';
  const kept = { ...search, from: custom ? search.from : undefined, to: custom ? search.to : undefined };
  return Object.fromEntries(Object.entries(kept).filter(([, value]) => value !== undefined && value !== '')) as RunSearch;
}
