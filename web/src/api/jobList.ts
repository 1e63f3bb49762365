// The jobs as one long list, of which only the visible pages are loaded, and queries over many jobs.

import { queryOptions, useQueries, useQuery, useQueryClient } from '@tanstack/react-query';
import { filterKey, whichJobs, type JobFilter } from '../lib/jobFilter.ts';
import { pagesOf, type RowWindow } from '../lib/rowWindow.ts';
import { client } from './client.ts';
import { keys } from './keys.ts';
import { unlessLive } from './live.ts';
import { dataOf, Problem } from './problem.ts';
import type { Job } from './types.ts';

export const rowsOfPage = 50;

/** Additional data for each listed job, loaded for visible pages only. */
const shown = ['results', 'stats', 'words'] as const;

// Pages out of view are dropped soon, so that scrolling through all jobs keeps only some thousand rows in memory.
const keepFar = 5_000;
// The first page contains the length of the list, so that it has the same length when the user returns.
const keepFirst = 300_000;

function jobPage(filter: JobFilter, page: number) {
  return queryOptions({
    queryKey: keys.jobPage(filterKey(filter), page, document.documentElement.lang),
    queryFn: ({ signal }) =>
      dataOf(
        client.GET('/api/v1/jobs', {
          params: { query: { ...whichJobs(filter), sort: filter.sort, offset: page * rowsOfPage, limit: rowsOfPage, total: true, include: [...shown] } },
          signal,
        }),
      ),
    refetchInterval: unlessLive(5000),
    gcTime: page === 0 ? keepFirst : keepFar,
  });
}

/** The first page of a list, which contains its length. */
export function useFirstJobs(filter: JobFilter) {
  return useQuery(jobPage(filter, 0));
}

/** The number of jobs with each trait, among those that match the other filters. */
export function useTraitCounts({ is: _, sort: __, ...others }: JobFilter) {
  return useQuery({
    queryKey: keys.jobCounts(filterKey(others)),
    queryFn: ({ signal }) => dataOf(client.GET('/api/v1/jobs', { params: { query: { ...whichJobs(others), limit: 1, counts: true } }, signal })),
    select: ({ counts }) => counts,
    placeholderData: (before) => before,
    refetchInterval: unlessLive(10_000),
    retry: false,
  });
}

export interface JobRows {
  /** Returns the job in a row; undefined while its page is loading. */
  at: (row: number) => Job | undefined;
  error: Error | undefined;
  /** The log store is unavailable: results are incomplete. */
  partial: boolean;
}

/** Returns the jobs in a range of rows. */
export function useJobRows(filter: JobFilter, rows: RowWindow): JobRows {
  const pages = pagesOf(rows, rowsOfPage);
  const answers = useQueries({ queries: pages.map((page) => jobPage(filter, page)) });
  return {
    at: (row) => answers[pages.indexOf(Math.floor(row / rowsOfPage))]?.data?.items[row % rowsOfPage],
    error: answers.find((answer) => answer.error && !answer.data)?.error ?? undefined,
    partial: answers.some((answer) => answer.data?.partial),
  };
}

/** Returns a range of the list as it is shown, from loaded pages where possible. */
export function useJobStretch(): (filter: JobFilter, first: number, end: number) => Promise<Job[]> {
  const queries = useQueryClient();
  return async (filter, first, end) => {
    const pages = await Promise.all(pagesOf({ first, end }, rowsOfPage).map((page) => queries.fetchQuery({ ...jobPage(filter, page), staleTime: 30_000 })));
    const from = Math.floor(first / rowsOfPage) * rowsOfPage;
    return pages.flatMap((page) => page.items).slice(first - from, end - from);
  };
}

const most = 500;

/** Returns all jobs that match a filter, by name, page after page. */
export async function* allJobs(filter: JobFilter, signal: AbortSignal): AsyncGenerator<{ items: Job[]; total: number }> {
  let cursor: string | undefined;
  let total = 0;
  do {
    const page = await dataOf(client.GET('/api/v1/jobs', { params: { query: { ...whichJobs(filter), cursor, limit: most, total: cursor === undefined || undefined } }, signal }));
    total = page.total ?? total;
    yield { items: page.items, total };
    cursor = page.nextCursor;
  } while (cursor !== undefined);
}

const together = 8;

/** Returns a job, or undefined if it was deleted meanwhile. */
async function jobIfThere(name: string, signal: AbortSignal): Promise<Job | undefined> {
  try {
    return await dataOf(client.GET('/api/v1/jobs/{name}', { params: { path: { name } }, signal }));
  } catch (error) {
    if (error instanceof Problem && error.status === 404) return undefined;
    throw error;
  }
}

/** Returns jobs by name, with a few requests at a time; deleted ones are left out. */
export async function* namedJobs(names: readonly string[], signal: AbortSignal): AsyncGenerator<{ items: Job[]; total: number }> {
  for (let i = 0; i < names.length; i += together) {
    const some = names.slice(i, i + together);
    const found = await Promise.all(some.map((name) => jobIfThere(name, signal)));
    yield { items: found.filter((job) => job !== undefined), total: names.length };
  }
}

/** All groups with their number of jobs. */
export function useGroups() {
  return useQuery({ queryKey: keys.groups, queryFn: ({ signal }) => dataOf(client.GET('/api/v1/groups', { signal })), refetchInterval: unlessLive(15_000), staleTime: 5_000 });
}

/** All labels of jobs with the number of jobs for each value. */
export function useLabels() {
  return useQuery({ queryKey: keys.labels, queryFn: ({ signal }) => dataOf(client.GET('/api/v1/labels', { signal })), refetchInterval: unlessLive(15_000), staleTime: 5_000 });
}
