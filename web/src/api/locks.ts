import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { client } from './client.ts';
import { keys } from './keys.ts';
import { dataOf } from './problem.ts';

/** The named locks of the user's groups. Locks change without events of the server. */
export function useLocks() {
  return useQuery({ queryKey: keys.locks, queryFn: ({ signal }) => dataOf(client.GET('/api/v1/locks', { signal })), refetchInterval: 5000 });
}

/** One lock with the first hundred clients of its queue. */
export function useLock(name: string) {
  return useQuery({ queryKey: keys.lock(name), queryFn: ({ signal }) => dataOf(client.GET('/api/v1/locks/{name}', { params: { path: { name } }, signal })), refetchInterval: 5000 });
}

/** Releases a lock on behalf of its owner. */
export function useReleaseLock() {
  const queryClient = useQueryClient();
  return useMutation({
    mutationFn: (name: string) => dataOf(client.DELETE('/api/v1/locks/{name}', { params: { path: { name } } })),
    onSettled: () => queryClient.invalidateQueries({ queryKey: keys.locks }),
  });
}
