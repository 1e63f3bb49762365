import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { client } from './client.ts';
import { keys } from './keys.ts';
import { dataOf } from './problem.ts';
import type { ViewDefinition } from './types.ts';

/** The user's own views and the shared ones, by name. */
export function useViews() {
  return useQuery({ queryKey: keys.views, queryFn: ({ signal }) => dataOf(client.GET('/api/v1/views', { signal })), staleTime: 60_000 });
}

export interface SaveView {
  id: string;
  definition: ViewDefinition;
}

/** Creates or replaces a view. */
export function useSaveView() {
  const queryClient = useQueryClient();
  return useMutation({
    mutationFn: ({ id, definition }: SaveView) => dataOf(client.PUT('/api/v1/views/{id}', { params: { path: { id } }, body: definition })),
    onSettled: () => queryClient.invalidateQueries({ queryKey: keys.views }),
  });
}

export function useDeleteView() {
  const queryClient = useQueryClient();
  return useMutation({
    mutationFn: ({ id, shared }: { id: string; shared: boolean }) => dataOf(client.DELETE('/api/v1/views/{id}', { params: { path: { id }, query: { shared: shared || undefined } } })),
    onSettled: () => queryClient.invalidateQueries({ queryKey: keys.views }),
  });
}
