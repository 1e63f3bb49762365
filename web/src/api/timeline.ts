import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { client } from './client.ts';
import { keys } from './keys.ts';
import { unlessLive } from './live.ts';
import { dataOf } from './problem.ts';
import type { Fire, Run, RunStatus } from './types.ts';

/** How many runs, and how many planned fires, are fetched at most for one look. */
export const most = 2000;
const page = 500;

/** For how long a stretch is kept that is no more looked at: who moves along the axis leaves many behind. */
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

/** What was found, and, where there is more, from when on all of it is there. */
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

/** The runs that were planned in a stretch, the newest of them. What is new is asked for apart, so this is not asked again with each event. */
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

/** The runs that wait, run, or have just ended. */
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

/** Fires that are to come, and, where there are more, until when all of them are there. */
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

// Fires are listed from the farthest on. Where there are too many, those that come first are wanted: the stretch is made shorter,
// going by how close to each other those on the first page are.
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

/** The fires that the plan has in a stretch that lies ahead. The plan is other when a job is, and not with each run: so it is kept with the forecast. */
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

/** How long the runs of the jobs that fire next usually take. */
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

/** How many fires each hour had, for times of which not every run is fetched. */
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
