import { keepPreviousData, useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { client } from './client.ts';
import { keys } from './keys.ts';
import { dataOf } from './problem.ts';
import type { TokenDefinition } from './types.ts';

/** Tokens by name: the user's own, or for global admins all, or those of one user. */
export function useTokens(user: string, cursor: string) {
  return useQuery({
    queryKey: keys.tokenList(user, cursor),
    queryFn: ({ signal }) => dataOf(client.GET('/api/v1/tokens', { params: { query: { limit: 50, user: user || undefined, cursor: cursor || undefined } }, signal })),
    placeholderData: keepPreviousData,
    refetchInterval: 30_000,
  });
}

/** Creates a token. Only this answer contains its text. */
export function useMakeToken() {
  const queryClient = useQueryClient();
  return useMutation({
    mutationFn: (definition: TokenDefinition) => dataOf(client.POST('/api/v1/tokens', { body: definition })),
    onSuccess: () => queryClient.invalidateQueries({ queryKey: keys.tokens }),
  });
}

export function useDeleteToken() {
  const queryClient = useQueryClient();
  return useMutation({
    mutationFn: (id: string) => dataOf(client.DELETE('/api/v1/tokens/{id}', { params: { path: { id } } })),
    onSettled: () => Promise.all([keys.tokens, keys.sessions].map((queryKey) => queryClient.invalidateQueries({ queryKey }))),
  });
}
