import { keepPreviousData, useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { client } from './client.ts';
import { keys } from './keys.ts';
import { dataOf } from './problem.ts';

/** Sessions, newest first: the user's own, or for global admins all. */
export function useSessions(cursor: string) {
  return useQuery({
    queryKey: keys.sessionList(cursor),
    queryFn: ({ signal }) => dataOf(client.GET('/api/v1/sessions', { params: { query: { limit: 50, cursor: cursor || undefined } }, signal })),
    placeholderData: keepPreviousData,
    refetchInterval: 30_000,
  });
}

export function useEndSession() {
  const queryClient = useQueryClient();
  return useMutation({
    mutationFn: (id: string) => dataOf(client.DELETE('/api/v1/sessions/{id}', { params: { path: { id } } })),
    onSettled: () => queryClient.invalidateQueries({ queryKey: keys.sessions }),
  });
}
