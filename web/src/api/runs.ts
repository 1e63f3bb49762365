import { keepPreviousData, useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { client } from './client.ts';
import { pageSize } from './jobs.ts';
import { keys } from './keys.ts';
import { unlessLive } from './live.ts';
import { dataOf } from './problem.ts';
import type { RunStatus } from './types.ts';

export const statuses: readonly RunStatus[] = [
  'waiting', 'running', 'succeeded', 'failed', 'timed_out', 'killed', 'lost', 'skipped', 'refused', 'missed',
];

export function isTerminal(status: RunStatus): boolean {
  return status !== 'waiting' && status !== 'running';
}

export interface RunFilter {
  job?: string | undefined;
  status?: RunStatus | undefined;
  /** A text in the job's or worker's name, the id, the reason, the note, or who triggered it. */
  q?: string | undefined;
  exitCode?: number | undefined;
}

export function useRuns(filter: RunFilter, cursor: string, { limit = pageSize, enabled = true } = {}) {
  return useQuery({
    queryKey: keys.runList({ ...filter, exitCode: filter.exitCode?.toString(), limit: String(limit) }, cursor),
    queryFn: ({ signal }) =>
      dataOf(
        client.GET('/api/v1/runs', {
          params: { query: { job: filter.job, status: filter.status && [filter.status], q: filter.q, exitCode: filter.exitCode, cursor: cursor || undefined, limit } },
          signal,
        }),
      ),
    enabled,
    placeholderData: keepPreviousData,
    refetchInterval: unlessLive(2000),
  });
}

export function useRun(id: string) {
  return useQuery({
    queryKey: keys.run(id),
    queryFn: ({ signal }) => dataOf(client.GET('/api/v1/runs/{id}', { params: { path: { id } }, signal })),
    refetchInterval: ({ state }) => (state.data && isTerminal(state.data.status) ? false : unlessLive(1000)()),
  });
}

/** All attempts of a fire, the first one first. */
export function useAttempts(fire: string, live: boolean) {
  return useQuery({
    queryKey: keys.attempts(fire),
    queryFn: async ({ signal }) => {
      const { items } = await dataOf(client.GET('/api/v1/runs', { params: { query: { fire, limit: pageSize } }, signal }));
      return items.filter((run) => run.attempt > 0).sort((a, b) => a.attempt - b.attempt);
    },
    // After an attempt that has ended another one may still come.
    refetchInterval: unlessLive(live ? 1000 : 5000),
  });
}

export function useKillRun() {
  const queryClient = useQueryClient();
  return useMutation({
    mutationFn: (id: string) => dataOf(client.POST('/api/v1/runs/{id}/kill', { params: { path: { id } }, body: {} })),
    onSuccess: () => queryClient.invalidateQueries({ queryKey: keys.runs }),
  });
}
