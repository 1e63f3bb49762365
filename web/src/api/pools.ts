import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { client } from './client.ts';
import { keys } from './keys.ts';
import { answerOf, dataOf } from './problem.ts';
import type { PoolDefinition } from './types.ts';

/** The pools with their usage and queues, which change without events of the server. */
export function usePools(enabled = true) {
  return useQuery({ queryKey: keys.pools, queryFn: ({ signal }) => dataOf(client.GET('/api/v1/pools', { signal })), refetchInterval: 3000, enabled });
}

/** One pool with all runs that have slots, and the first hundred fires of its queue. */
export function usePool(name: string) {
  return useQuery({
    queryKey: keys.pool(name),
    queryFn: async ({ signal }) => (await answerOf(client.GET('/api/v1/pools/{name}', { params: { path: { name } }, signal }))).data,
    refetchInterval: 3000,
  });
}

/** Creates a pool, or changes the version that is given (412 if there is a newer one). */
export function useSavePool() {
  const queryClient = useQueryClient();
  return useMutation({
    mutationFn: ({ name, definition, version }: { name: string; definition: PoolDefinition; version: number | undefined }) =>
      dataOf(
        client.PUT('/api/v1/pools/{name}', {
          params: { path: { name }, header: version === undefined ? { 'If-None-Match': '*' } : { 'If-Match': `"${version}"` } },
          body: definition,
        }),
      ),
    onSuccess: () => queryClient.invalidateQueries({ queryKey: keys.pools }),
  });
}

export function useDeletePool() {
  const queryClient = useQueryClient();
  return useMutation({
    mutationFn: (name: string) => dataOf(client.DELETE('/api/v1/pools/{name}', { params: { path: { name } } })),
    onSettled: () => queryClient.invalidateQueries({ queryKey: keys.pools }),
  });
}
