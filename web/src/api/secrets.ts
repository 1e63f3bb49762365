import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { client } from './client.ts';
import { keys } from './keys.ts';
import { dataOf } from './problem.ts';
import type { SecretDefinition } from './types.ts';

/** The secrets that jobs may refer to, in the groups where the user is an editor; without their values. */
export function useSecrets(enabled: boolean) {
  return useQuery({ queryKey: keys.secrets, queryFn: ({ signal }) => dataOf(client.GET('/api/v1/secrets', { signal })), enabled, staleTime: 60_000 });
}

/** One secret with the jobs that refer to it. */
export function useSecret(name: string) {
  return useQuery({ queryKey: keys.secret(name), queryFn: ({ signal }) => dataOf(client.GET('/api/v1/secrets/{name}', { params: { path: { name } }, signal })) });
}

/** Creates a secret, or changes the version that is given (412 if there is a newer one). */
export function useSaveSecret() {
  const queryClient = useQueryClient();
  return useMutation({
    mutationFn: ({ name, definition, version }: { name: string; definition: SecretDefinition; version: number | undefined }) =>
      dataOf(
        client.PUT('/api/v1/secrets/{name}', {
          params: { path: { name }, header: version === undefined ? { 'If-None-Match': '*' } : { 'If-Match': `"${version}"` } },
          body: definition,
        }),
      ),
    // The request holds the value: it is not kept in memory longer than needed.
    gcTime: 0,
    onSuccess: () => queryClient.invalidateQueries({ queryKey: keys.secrets }),
  });
}

export function useDeleteSecret() {
  const queryClient = useQueryClient();
  return useMutation({
    mutationFn: ({ name, force }: { name: string; /** Also if jobs refer to it. */ force: boolean }) =>
      dataOf(client.DELETE('/api/v1/secrets/{name}', { params: { path: { name }, query: { force: force || undefined } } })),
    onSettled: () => queryClient.invalidateQueries({ queryKey: keys.secrets }),
  });
}
