import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { client } from './client.ts';
import { keys } from './keys.ts';
import { unlessLive } from './live.ts';
import { dataOf } from './problem.ts';
import type { Fire, Run, RunStatus } from './types.ts';

/** Maximum number of runs and of planned fires that are loaded for one view. */
export const most = 2000;
const page = 500;

/** How long data of a range is cached after it left the view: panning leaves many ranges behind. */
const spanKept = 30_000;

export interface TimelineFilter {
  job?: string | undefined;
  group?: string | undefined;
  status?: RunStatus | undefined;
  worker?: string | undefined;
}

interface Between {
  from: number;
  to: number;
}

const iso = (at: number) => new Date(at).toISOString();

/** The result, and the time from which it is complete if there is more. */
export interface PastRuns {
  runs: Run[];
  completeFrom: number | undefined;
  partial: boolean;
}

async function pastRuns(filter: TimelineFilter, { from, to }: Between, signal: AbortSignal): Promise<PastRuns> {
  const runs: Run[] = [];
  let cursor: string | undefined;
  let partial = false;
  do {
    const query = { job: filter.job, group: filter.group, worker: filter.worker, status: filter.status && [filter.status], from: iso(from), to: iso(to), limit: page, cursor };
    const got = await dataOf(client.GET('/api/v1/runs', { params: { query }, signal }));
    runs.push(...got.items);
    cursor = got.nextCursor;
    partial ||= got.partial === true;
  } while (cursor !== undefined && runs.length < most);
  const oldest = runs.at(-1);
  return { runs, completeFrom: cursor !== undefined && oldest ? Date.parse(oldest.plannedAt) : undefined, partial };
}

/** The runs planned in a range, newest first. New runs come from another query, so events do not refetch this one. */
export function usePastRuns(filter: TimelineFilter, between: Between, enabled: boolean) {
  return useQuery({
    queryKey: ['pastRuns', filter, between],
    queryFn: ({ signal }) => pastRuns(filter, between, signal),
    enabled,
    placeholderData: keepPreviousData,
    staleTime: 10_000,
    gcTime: spanKept,
    refetchInterval: 20_000,
  });
}

/** Runs that wait, run, or have just ended. */
export function useFreshRuns(filter: TimelineFilter, enabled: boolean) {
  return useQuery({
    queryKey: [...keys.runs, 'fresh', filter],
    queryFn: async ({ signal }) => {
      const query = { job: filter.job, group: filter.group };
      const wanted = filter.status && [filter.status];
      const [newest, active] = await Promise.all([
        dataOf(client.GET('/api/v1/runs', { params: { query: { ...query, status: wanted, limit: 100 } }, signal })),
        filter.status ? undefined : dataOf(client.GET('/api/v1/runs', { params: { query: { ...query, status: ['waiting', 'running'], limit: page } }, signal })),
      ]);
      return [...(active?.items ?? []), ...newest.items];
    },
    enabled,
    placeholderData: keepPreviousData,
    refetchInterval: unlessLive(3000),
  });
}

/** Planned fires, and the time until which they are complete if there are more. */
export interface PlannedFires {
  fires: Fire[];
  completeUntil: number | undefined;
}

async function firesPage(filter: TimelineFilter, { from, to }: Between, cursor: string | undefined, signal: AbortSignal) {
  const query = { from: iso(from), to: iso(to), status: ['planned' as const], limit: page, cursor };
  return dataOf(
    filter.job === undefined
      ? client.GET('/api/v1/fires', { params: { query: { ...query, group: filter.group } }, signal })
      : client.GET('/api/v1/jobs/{name}/fires', { params: { path: { name: filter.job }, query }, signal }),
  );
}

// Fires are listed latest first. If there are too many, the earliest are needed: the range is shortened by the density
// of fires on the first page.
async function plannedFires(filter: TimelineFilter, { from, to }: Between, signal: AbortSignal): Promise<PlannedFires> {
  let until = to;
  for (let attempt = 0; attempt < 5; attempt++) {
    const first = await firesPage(filter, { from, to: until }, undefined, signal);
    const fires = first.items;
    let cursor = first.nextCursor;
    const oldest = fires.at(-1);
    if (cursor !== undefined && oldest && attempt < 4) {
      const each = Math.max(1, until - Date.parse(oldest.plannedAt)) / fires.length;
      const room = each * most * 0.9;
      if (from + room < until) {
        until = Math.round(from + Math.min(room, (until - from) / 2));
        continue;
      }
    }
    while (cursor !== undefined && fires.length < most) {
      const more = await firesPage(filter, { from, to: until }, cursor, signal);
      fires.push(...more.items);
      cursor = more.nextCursor;
    }
    return { fires, completeUntil: until < to ? until : undefined };
  }
  return { fires: [], completeUntil: from };
}

/** The planned fires in a future range. They change with jobs, not with runs, so they are cached with the forecast. */
export function usePlannedFires(filter: TimelineFilter, between: Between, enabled: boolean) {
  return useQuery({
    queryKey: ['forecast', 'planned', filter.job, filter.group, between],
    queryFn: ({ signal }) => plannedFires(filter, between, signal),
    enabled,
    placeholderData: keepPreviousData,
    staleTime: 5000,
    gcTime: spanKept,
    refetchInterval: unlessLive(15_000),
  });
}

/** Usual durations of the jobs that fire next. */
export function useUsual(group: string | undefined) {
  return useQuery({
    queryKey: ['usual', group],
    queryFn: async ({ signal }) => {
      const { items } = await dataOf(client.GET('/api/v1/jobs', { params: { query: { group, include: ['stats'], sort: 'nextFire', limit: page } }, signal }));
      return new Map(items.flatMap(({ name, meta: { stats } }) => (stats && stats.samples > 0 ? [[name, { p50: stats.p50Ms, p95: stats.p95Ms }] as const] : [])));
    },
    staleTime: 60_000,
    placeholderData: keepPreviousData,
  });
}

/** Number of fires by hour, for periods whose runs are not all loaded. */
export function useHourly({ from, to }: Between, enabled: boolean) {
  return useQuery({
    queryKey: ['hourly', from, to],
    queryFn: async ({ signal }) => {
      const { buckets } = await dataOf(client.GET('/api/v1/stats/runs', { params: { query: { from: iso(from), to: iso(Math.min(to, Date.now())), by: 'hour' } }, signal }));
      return buckets.map(({ at, statuses }) => ({ at: Date.parse(at), fires: Object.values(statuses).reduce((sum, n) => sum + n, 0) }));
    },
    enabled,
    staleTime: 60_000,
    placeholderData: keepPreviousData,
  });
}
