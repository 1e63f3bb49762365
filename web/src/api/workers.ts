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

/** What an operator does to a worker. */
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
