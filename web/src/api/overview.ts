import { keepPreviousData, useQueries, useQuery, useQueryClient } from '@tanstack/react-query';
import { useEffect, useRef } from 'react';
import { localZone } from '../lib/localTime.ts';
import { troubleStatuses } from '../lib/troubles.ts';
import { client } from './client.ts';
import { keys } from './keys.ts';
import { unlessLive } from './live.ts';
import { isKept } from './liveChanges.ts';
import { dataOf } from './problem.ts';
import type { Fire } from './types.ts';

const hour = 3_600_000;

/** Key figures of the cluster, and its active problems. */
export function useOverview() {
  return useQuery({
    queryKey: keys.overview,
    queryFn: ({ signal }) => dataOf(client.GET('/api/v1/stats/overview', { signal })),
    // Many conditions cause no event.
    refetchInterval: 5000,
  });
}

/**
 * Refetches everything shown when the log store becomes unavailable or available again: lists without it are
 * incomplete, and no event reports the change.
 */
export function useHistoryTurns(): void {
  const queries = useQueryClient();
  const logStore = useOverview().data?.logStore;
  const before = useRef(logStore);
  useEffect(() => {
    if (logStore === undefined) return;
    if (before.current !== undefined && before.current !== logStore) void queries.invalidateQueries({ predicate: ({ queryKey }) => queryKey[0] !== keys.overview[0] && !isKept(queryKey) });
    before.current = logStore;
  }, [queries, logStore]);
}

/** Current runs, earliest planned time first, so that stuck runs are included however many there are. */
export function useRunning() {
  return useQuery({
    queryKey: keys.running,
    queryFn: ({ signal }) => dataOf(client.GET('/api/v1/runs', { params: { query: { status: ['running'], order: 'oldest', limit: 100 } }, signal })),
    refetchInterval: unlessLive(3000),
  });
}

// Fires are listed newest first, but the longest wait is needed: after a long outage it is on a later page.
const waitingPages = 4;

/** Due fires that have not started, without those of paused jobs. */
export function useWaiting() {
  return useQuery({
    queryKey: keys.waiting,
    queryFn: async ({ signal }) => {
      const items: Fire[] = [];
      let cursor: string | undefined;
      for (let page = 0; page < waitingPages && (page === 0 || cursor !== undefined); page++) {
        const got = await dataOf(client.GET('/api/v1/fires', { params: { query: { status: ['waiting'], paused: 'exclude', limit: 500, cursor } }, signal }));
        items.push(...got.items);
        cursor = got.nextCursor;
      }
      return { items, nextCursor: cursor };
    },
    refetchInterval: unlessLive(5000),
  });
}

/** Start of the last day, as in its statistics: the full hour 24 hours ago. */
function lastDay(): string {
  return new Date((Math.floor(Date.now() / hour) - 24) * hour).toISOString();
}

/** The latest failed fires of the last day, acknowledged ones included. */
export function useTroubles() {
  return useQuery({
    queryKey: keys.troubles,
    queryFn: ({ signal }) =>
      dataOf(client.GET('/api/v1/fires', { params: { query: { status: [...troubleStatuses], from: lastDay(), limit: 500 } }, signal })),
    refetchInterval: 15_000,
  });
}

/** The last run of each of these jobs, which shows whether the job has recovered. */
export function useLastRuns(jobs: readonly string[]) {
  return useQueries({
    queries: jobs.map((job) => ({
      queryKey: keys.lastRun(job),
      queryFn: ({ signal }: { signal: AbortSignal }) => dataOf(client.GET('/api/v1/runs', { params: { query: { job, limit: 1 } }, signal })),
      refetchInterval: unlessLive(15_000),
    })),
    combine: (results) => new Map(results.map((result, i) => [jobs[i] ?? '', result.data?.items[0]])),
  });
}

/** The jobs that fire next. */
export function useSoon(limit: number) {
  return useQuery({
    queryKey: keys.soon(limit),
    queryFn: ({ signal }) => dataOf(client.GET('/api/v1/jobs', { params: { query: { sort: 'nextFire', state: 'active', limit } }, signal })),
    refetchInterval: unlessLive(10_000),
  });
}

/** Number of planned fires for each minute of the next hour. */
export function useNextHour() {
  return useQuery({
    queryKey: keys.nextHour,
    queryFn: ({ signal }) => dataOf(client.GET('/api/v1/forecast', { params: { query: { to: new Date(Date.now() + hour).toISOString(), by: 'minute' } }, signal })),
    placeholderData: keepPreviousData,
    // Refetched on a timer, since time moves the window.
    refetchInterval: 30_000,
  });
}

export const trends = { day: 24, week: 7 * 24 } as const;
export type Trend = keyof typeof trends;

/** Outcomes of all fires by hour. */
export function useTrend(range: Trend) {
  return useQuery({
    queryKey: keys.trend(range),
    queryFn: ({ signal }) =>
      dataOf(client.GET('/api/v1/stats/runs', { params: { query: { from: new Date(Date.now() - trends[range] * hour).toISOString(), by: 'hour', timezone: localZone() } }, signal })),
    placeholderData: keepPreviousData,
    refetchInterval: 30_000,
  });
}
