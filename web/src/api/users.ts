import { keepPreviousData, useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { client } from './client.ts';
import { keys } from './keys.ts';
import { dataOf } from './problem.ts';
import type { Role, User, UserDefinition, UserPatch } from './types.ts';

export const roles: readonly Role[] = ['viewer', 'operator', 'editor', 'admin'];

/** Everyone who can sign in or own a token. For global admins. */
export function useUsers(cursor: string, enabled = true) {
  return useQuery({
    queryKey: keys.userList(cursor),
    queryFn: ({ signal }) => dataOf(client.GET('/api/v1/users', { params: { query: { limit: 100, cursor: cursor || undefined } }, signal })),
    placeholderData: keepPreviousData,
    refetchInterval: 30_000,
    enabled,
  });
}

/** Reads the current user, since a list may be stale. */
export function useFreshUser() {
  return useMutation({ mutationFn: (name: string) => dataOf(client.GET('/api/v1/users/{name}', { params: { path: { name } } })) });
}

/** Changes of users. Each names the version that it is based on: 412 on a conflict. */
export type UserChange = { act: 'create'; user: UserDefinition } | { act: 'patch'; user: User; patch: UserPatch } | { act: 'delete'; user: User };

export function useChangeUser() {
  const queryClient = useQueryClient();
  return useMutation({
    mutationFn: async (change: UserChange): Promise<void> => {
      if (change.act === 'create') {
        await dataOf(client.POST('/api/v1/users', { body: change.user }));
        return;
      }
      const params = { path: { name: change.user.name }, header: { 'If-Match': `"${change.user.version}"` } };
      if (change.act === 'patch') await dataOf(client.PATCH('/api/v1/users/{name}', { params, body: change.patch }));
      else await dataOf(client.DELETE('/api/v1/users/{name}', { params }));
    },
    // Tokens and sessions of a user are deleted with it. A refusal may mean that the list is stale.
    onSettled: () => Promise.all([keys.users, keys.tokens, keys.sessions, keys.audit].map((queryKey) => queryClient.invalidateQueries({ queryKey }))),
  });
}

/** Changes the user's own password. The server ends all other sessions and replaces the cookie of this one. */
export function useChangePassword() {
  const queryClient = useQueryClient();
  return useMutation({
    mutationFn: (passwords: { current: string; new: string }) => dataOf(client.PUT('/api/v1/auth/password', { body: passwords })),
    onSuccess: () => queryClient.invalidateQueries({ queryKey: keys.sessions }),
  });
}
