import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { client } from './client.ts';
import { keys } from './keys.ts';
import { unlessLive } from './live.ts';
import { dataOf } from './problem.ts';
import type { WorkerPatch } from './types.ts';

export function useWorkers(enabled = true) {
  return useQuery({
    queryKey: keys.workers,
    queryFn: ({ signal }) => dataOf(client.GET('/api/v1/workers', { signal })),
    enabled,
    refetchInterval: unlessLive(5000),
  });
}

/** Reports whether the worker of a run is dead. Such a run keeps its last known state until it is recorded as lost. */
export function useIsGone(enabled = true): (worker: string | undefined) => boolean {
  const workers = useWorkers(enabled).data?.items;
  return (worker) => worker !== undefined && workers !== undefined && !workers.some(({ id, away }) => id === worker && !away);
}

export function useWorker(id: string) {
  return useQuery({
    queryKey: [...keys.workers, 'one', id],
    queryFn: ({ signal }) => dataOf(client.GET('/api/v1/workers/{id}', { params: { path: { id } }, signal })),
    refetchInterval: unlessLive(5000),
  });
}

/** What would not run without a worker. */
export function useExclusiveJobs(id: string, enabled: boolean) {
  return useQuery({
    queryKey: [...keys.workers, 'exclusive', id],
    queryFn: ({ signal }) => dataOf(client.GET('/api/v1/workers/{id}/exclusive-jobs', { params: { path: { id } }, signal })),
    enabled,
  });
}

/** Current runs on a worker, longest first: of more than 200 the newest, since daemons are the oldest. */
export function useRunsOn(worker: string) {
  return useQuery({
    queryKey: [...keys.runs, 'on', worker],
    queryFn: async ({ signal }) => (await dataOf(client.GET('/api/v1/runs', { params: { query: { worker, status: ['running'], limit: 200 } }, signal }))).items.reverse(),
    refetchInterval: unlessLive(3000),
  });
}

/** Outcomes of the runs of the last 24 hours by worker. */
export function useWorkerFigures() {
  return useQuery({
    queryKey: ['workerFigures'],
    queryFn: async ({ signal }) => {
      const from = new Date(Date.now() - 86_400_000).toISOString();
      return (await dataOf(client.GET('/api/v1/stats/runs', { params: { query: { from, by: 'hour', workers: true } }, signal }))).workers ?? [];
    },
    refetchInterval: 60_000,
  });
}

/** An operator's changes to a worker. */
export type WorkerChange = { act: 'drain'; note: string | undefined } | { act: 'undrain' } | { act: 'set'; patch: WorkerPatch };

export function useChangeWorker() {
  const queryClient = useQueryClient();
  return useMutation({
    mutationFn: ({ id, change }: { id: string; change: WorkerChange }) => {
      const params = { path: { id } };
      switch (change.act) {
        case 'drain':
          return dataOf(client.POST('/api/v1/workers/{id}/drain', { params, body: { note: change.note } }));
        case 'undrain':
          return dataOf(client.POST('/api/v1/workers/{id}/undrain', { params }));
        case 'set':
          return dataOf(client.PATCH('/api/v1/workers/{id}', { params, body: change.patch }));
      }
    },
    onSuccess: () => Promise.all([queryClient.invalidateQueries({ queryKey: keys.workers }), queryClient.invalidateQueries({ queryKey: keys.placements })]),
  });
}

/** Deletes the settings of a worker that is gone. */
export function useDeleteWorkerSettings() {
  const queryClient = useQueryClient();
  return useMutation({
    mutationFn: (id: string) => dataOf(client.DELETE('/api/v1/workers/{id}/settings', { params: { path: { id } } })),
    onSettled: () => Promise.all([queryClient.invalidateQueries({ queryKey: keys.workers }), queryClient.invalidateQueries({ queryKey: keys.doctor })]),
  });
}
