import { keepPreviousData, useMutation, useQueries, useQuery, useQueryClient } from '@tanstack/react-query';
import { client } from './client.ts';
import { pageSize } from './jobs.ts';
import { keys } from './keys.ts';
import { unlessLive } from './live.ts';
import { dataOf } from './problem.ts';
import type { Cause, Run, RunStatus, Signal } from './types.ts';

export const statuses: readonly RunStatus[] = [
  'waiting', 'running', 'succeeded', 'failed', 'timed_out', 'killed', 'lost', 'skipped', 'refused', 'missed',
];

export function isTerminal(status: RunStatus): boolean {
  return status !== 'waiting' && status !== 'running';
}

export interface RunFilter {
  job?: string | undefined;
  /** Any of these. */
  statuses?: readonly RunStatus[] | undefined;
  worker?: string | undefined;
  cause?: Cause | undefined;
  /** Milliseconds from now, or a time. */
  from?: number | string | undefined;
  to?: string | undefined;
  /** A text in the job's or worker's name, the id, the reason, the note, or the user who triggered it. */
  q?: string | undefined;
  exitCode?: number | undefined;
  /** Only runs of the nodes of this flow run. */
  flowRun?: string | undefined;
}

/** A page of runs, newest first. */
export function useRuns(filter: RunFilter, cursor: string, { limit = pageSize, enabled = true } = {}) {
  return useQuery({
    queryKey: keys.runList({ ...filter, limit }, cursor),
    queryFn: async ({ signal }) => {
      // A cursor is valid only for the range of its first page, so a start relative to now is stored with it.
      const [kept, bare] = cursor.includes(' ') ? cursor.split(' ') : [undefined, cursor];
      const from = kept ?? (typeof filter.from === 'number' ? new Date(Date.now() + filter.from).toISOString() : filter.from);
      const { job, worker, cause, to, q, exitCode, flowRun } = filter;
      const status = filter.statuses && filter.statuses.length > 0 ? [...filter.statuses] : undefined;
      const page = await dataOf(client.GET('/api/v1/runs', { params: { query: { job, status, worker, cause, from, to, q, exitCode, flowRun, last: true, cursor: bare || undefined, limit } }, signal }));
      return page.nextCursor && from !== undefined ? { ...page, nextCursor: `${from} ${page.nextCursor}` } : page;
    },
    enabled,
    placeholderData: keepPreviousData,
    refetchInterval: unlessLive(2000),
  });
}

export function useRun(id: string) {
  return useQuery({
    queryKey: keys.run(id),
    queryFn: ({ signal }) => dataOf(client.GET('/api/v1/runs/{id}', { params: { path: { id } }, signal })),
    refetchInterval: ({ state: { data } }) => (data && isTerminal(data.status) ? false : data && startComes(data) ? 1000 : unlessLive(1000)()),
  });
}

/** Some runs by their ids; those that are gone or not read yet are missing. */
export function useRunsById(ids: readonly string[]): ReadonlyMap<string, Run> {
  return useQueries({
    queries: ids.map((id) => ({ queryKey: keys.run(id), queryFn: ({ signal }: { signal: AbortSignal }) => dataOf(client.GET('/api/v1/runs/{id}', { params: { path: { id } }, signal })), retry: false })),
    combine: (results) => new Map(results.flatMap(({ data }) => (data ? [[data.id, data] as const] : []))),
  });
}

/** Reports whether the start of a run will be known soon: workers record it after two seconds, and no event follows. */
function startComes({ status, startedAt, claimedAt, digest }: Run): boolean {
  return status === 'running' && startedAt === undefined && digest === undefined && Date.now() - Date.parse(claimedAt ?? '') < 15_000;
}

/** All attempts of a fire, in order. */
export function useAttempts(fire: string, live: boolean, enabled = true) {
  return useQuery({
    queryKey: keys.attempts(fire),
    queryFn: async ({ signal }) => {
      const { items } = await dataOf(client.GET('/api/v1/runs', { params: { query: { fire, limit: pageSize } }, signal }));
      return items.filter((run) => run.attempt > 0).sort((a, b) => a.attempt - b.attempt);
    },
    enabled,
    // An ended attempt may be followed by another one.
    refetchInterval: unlessLive(live ? 1000 : 5000),
  });
}

export interface KillRequest {
  id: string;
  /** The first signal; TERM by default. */
  signal?: Signal;
  /** The reason, shown with the run and in the ledger. */
  note?: string;
  /** Ends the clean-up steps of a flow run as well. */
  force?: boolean;
}

export function useKillRun() {
  const queryClient = useQueryClient();
  return useMutation({
    mutationFn: ({ id, signal, note, force }: KillRequest) => dataOf(client.POST('/api/v1/runs/{id}/kill', { params: { path: { id } }, body: { ...(signal && { signal }), ...(note && { note }), ...(force && { force }) } })),
    onSuccess: () => Promise.all([queryClient.invalidateQueries({ queryKey: keys.runs }), queryClient.invalidateQueries({ queryKey: keys.fires })]),
  });
}

/** The previous and the next run of the same job. */
export function useNeighbours(run: Run) {
  return useQuery({
    queryKey: keys.neighbours(run.job, run.plannedAt),
    queryFn: async ({ signal }) => {
      const one = async (query: { to: string } | { from: string; order: 'oldest' }) =>
        (await dataOf(client.GET('/api/v1/runs', { params: { query: { job: run.job, limit: 1, ...query } }, signal }))).items[0];
      // Other attempts of the same fire have the same planned time.
      const after = new Date(Date.parse(run.plannedAt) + 1).toISOString();
      const [previous, next] = await Promise.all([one({ to: run.plannedAt }), one({ from: after, order: 'oldest' })]);
      return { previous, next };
    },
    staleTime: 10_000,
    // Once the next run has ended, neither changes any more.
    enabled: ({ state }) => !state.data?.next || !isTerminal(state.data.next.status),
  });
}
