import { useMutation, useQuery, useQueryClient, type QueryClient } from '@tanstack/react-query';
import { forgetDrafts } from '../lib/drafts.ts';
import { client } from './client.ts';
import { keys } from './keys.ts';
import { dataOf, Problem } from './problem.ts';
import type { Me } from './types.ts';

/** Reports whether a user is signed in. An ended session is remembered, so that the same user can sign in again and continue. */
export type Session = { state: 'in'; me: Me } | { state: 'ended'; me: Me } | { state: 'out' };

const pollWhileAway = 2000;
/** The user may sign in again in another tab. */
const pollWhileEnded = 5000;

function withoutSession(before: Session | undefined): Session {
  return before && before.state !== 'out' ? { state: 'ended', me: before.me } : { state: 'out' };
}

/** Records that the server no longer knows this session. */
export function endSession(queryClient: QueryClient): void {
  // Written data counts as fresh, so a sign-in in another tab would go unnoticed for that time.
  if (queryClient.getQueryData<Session>(keys.session)?.state !== 'ended') queryClient.setQueryData<Session>(keys.session, withoutSession);
}

// Data loaded by a session and text typed in it must not outlive it.
function forget(queryClient: QueryClient): void {
  forgetDrafts();
  queryClient.removeQueries({ predicate: ({ queryKey }) => queryKey[0] !== keys.session[0] });
}

/** The signed-in user. A different user, here or in another tab, starts with an empty cache. */
export function sessionOf(queryClient: QueryClient, me: Me): Session {
  const before = queryClient.getQueryData<Session>(keys.session);
  if (before && before.state !== 'out' && before.me.name !== me.name) forget(queryClient);
  return { state: 'in', me };
}

/** Retries while the server is unreachable, so that the page recovers by itself. */
export function useSessionState(enabled: boolean, away: boolean) {
  const queryClient = useQueryClient();
  return useQuery<Session>({
    queryKey: keys.session,
    queryFn: async ({ signal }) => {
      try {
        return sessionOf(queryClient, await dataOf(client.GET('/api/v1/auth/me', { signal })));
      } catch (error) {
        if (error instanceof Problem && error.status === 401) return withoutSession(queryClient.getQueryData<Session>(keys.session));
        throw error;
      }
    },
    enabled,
    staleTime: 60_000,
    refetchOnWindowFocus: ({ state }) => (state.data?.state === 'ended' ? 'always' : true),
    refetchInterval: ({ state }) => (away ? pollWhileAway : state.data?.state === 'ended' ? pollWhileEnded : 60_000),
  });
}

/** The sign-in methods that the server offers. */
export function useLoginMethods() {
  return useQuery({ queryKey: keys.methods, queryFn: ({ signal }) => dataOf(client.GET('/api/v1/auth/methods', { signal })), staleTime: Infinity });
}

export type Credentials = { user: string; password: string } | { token: string } | { code: string };

/** Marks requests that sign in: their refusal does not affect an existing session. */
export const loginMeta = { login: true };

/** Exchanges a password, a token, or the code of a login link for a cookie session. */
export function useLogin() {
  const queryClient = useQueryClient();
  return useMutation({
    meta: loginMeta,
    mutationFn: (credentials: Credentials) => dataOf(client.POST('/api/v1/auth/login', { body: credentials })),
    // Awaited, so that the form stays busy until the user is known: by then the data of another user is dropped, and
    // queries that failed without a session are refetched.
    onSuccess: async () => {
      await queryClient.invalidateQueries({ queryKey: keys.session });
      await queryClient.invalidateQueries({ predicate: ({ queryKey }) => queryKey[0] !== keys.session[0] });
    },
  });
}

export function useLogout() {
  const queryClient = useQueryClient();
  return useMutation({
    mutationFn: () => dataOf(client.POST('/api/v1/auth/logout')),
    onSuccess: () => {
      queryClient.setQueryData<Session>(keys.session, { state: 'out' });
      forget(queryClient);
    },
  });
}
