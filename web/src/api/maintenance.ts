import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { client } from './client.ts';
import { keys } from './keys.ts';
import { dataOf } from './problem.ts';
import type { WindowDefinition } from './types.ts';

/** The maintenance windows that affect jobs of the user's groups. They open and close without events of the server. */
export function useWindows() {
  return useQuery({ queryKey: keys.maintenance, queryFn: ({ signal }) => dataOf(client.GET('/api/v1/maintenance', { signal })), refetchInterval: 15_000 });
}

/** Creates a window, or changes the version that is given (412 if there is a newer one). */
export function useSaveWindow() {
  const queryClient = useQueryClient();
  return useMutation({
    mutationFn: ({ name, definition, version }: { name: string; definition: WindowDefinition; version: number | undefined }) =>
      dataOf(
        client.PUT('/api/v1/maintenance/{name}', {
          params: { path: { name }, header: version === undefined ? { 'If-None-Match': '*' } : { 'If-Match': `"${version}"` } },
          body: definition,
        }),
      ),
    onSuccess: () => queryClient.invalidateQueries({ queryKey: keys.maintenance }),
  });
}

/** Ends a window now. */
export function useEndWindow() {
  const queryClient = useQueryClient();
  return useMutation({
    mutationFn: (name: string) => dataOf(client.POST('/api/v1/maintenance/{name}/end', { params: { path: { name } } })),
    onSettled: () => queryClient.invalidateQueries({ queryKey: keys.maintenance }),
  });
}

export function useDeleteWindow() {
  const queryClient = useQueryClient();
  return useMutation({
    mutationFn: (name: string) => dataOf(client.DELETE('/api/v1/maintenance/{name}', { params: { path: { name } } })),
    onSettled: () => queryClient.invalidateQueries({ queryKey: keys.maintenance }),
  });
}
