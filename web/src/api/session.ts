import { useMutation, useQuery, useQueryClient, type QueryClient } from '@tanstack/react-query';
import { client } from './client.ts';
import { keys } from './keys.ts';
import { dataOf, Problem } from './problem.ts';
import type { Me } from './types.ts';

/** Whether somebody is signed in. An ended session is remembered: whoever it was may sign in again and go on. */
export type Session = { state: 'in'; me: Me } | { state: 'ended'; me: Me } | { state: 'out' };

const pollWhileAway = 2000;

function withoutSession(before: Session | undefined): Session {
  return before && before.state !== 'out' ? { state: 'ended', me: before.me } : { state: 'out' };
}

/** Writes down that the server no longer knows this session. */
export function endSession(queryClient: QueryClient): void {
  queryClient.setQueryData<Session>(keys.session, withoutSession);
}

/** While the server is away it is asked again and again, so that the page recovers by itself. */
export function useSessionState(enabled: boolean, away: boolean) {
  const queryClient = useQueryClient();
  return useQuery<Session>({
    queryKey: keys.session,
    queryFn: async ({ signal }) => {
      try {
        return { state: 'in', me: await dataOf(client.GET('/api/v1/auth/me', { signal })) };
      } catch (error) {
        if (error instanceof Problem && error.status === 401) return withoutSession(queryClient.getQueryData<Session>(keys.session));
        throw error;
      }
    },
    enabled,
    staleTime: 60_000,
    refetchInterval: away ? pollWhileAway : 60_000,
  });
}

/** The ways to sign in that the server offers. */
export function useLoginMethods() {
  return useQuery({ queryKey: keys.methods, queryFn: ({ signal }) => dataOf(client.GET('/api/v1/auth/methods', { signal })), staleTime: Infinity });
}

export type Credentials = { user: string; password: string } | { token: string } | { code: string };

/** Exchanges a password, a token, or the code of a login link, for a cookie session. */
export function useLogin() {
  const queryClient = useQueryClient();
  return useMutation({
    mutationFn: (credentials: Credentials) => dataOf(client.POST('/api/v1/auth/login', { body: credentials })),
    // Awaited, so that the form stays busy until it is known who came in. What failed for want of a session is fetched again.
    onSuccess: () => queryClient.invalidateQueries(),
  });
}

export function useLogout() {
  const queryClient = useQueryClient();
  return useMutation({
    mutationFn: () => dataOf(client.POST('/api/v1/auth/logout')),
    onSuccess: () => {
      queryClient.setQueryData<Session>(keys.session, { state: 'out' });
      // What the session could see must not outlive it.
      queryClient.removeQueries({ predicate: ({ queryKey }) => queryKey[0] !== keys.session[0] });
    },
  });
}
