import { MutationCache, QueryCache, QueryClient } from '@tanstack/react-query';
import type { Connectivity } from './connectivity.ts';
import { isKept } from './liveChanges.ts';
import { Problem, ServerAway } from './problem.ts';
import { endSession, loginMeta } from './session.ts';

/**
 * Creates the query client. It reports to connectivity after each call, and ends the session when the server no longer
 * knows it.
 */
export function createQueryClient(connectivity: Connectivity): QueryClient {
  const onError = (error: Error, meta?: Record<string, unknown>) => {
    if (error instanceof ServerAway) connectivity.report(true);
    else if (error instanceof Problem) {
      connectivity.report(false);
      if (error.status === 401 && meta !== loginMeta) endSession(queryClient);
    }
  };
  const onSuccess = () => {
    if (!connectivity.isAway()) return;
    connectivity.report(false);
    void queryClient.invalidateQueries({ predicate: ({ queryKey, state }) => !isKept(queryKey) || state.status === 'error' });
  };
  const queryClient: QueryClient = new QueryClient({
    queryCache: new QueryCache({ onError: (error) => onError(error), onSuccess }),
    mutationCache: new MutationCache({ onError: (error, _variables, _result, mutation) => onError(error, mutation.meta), onSuccess }),
    defaultOptions: {
      // Lists poll and the gate retries while the server is unreachable, so a failed call is not retried here. The
      // server may run on this machine, so the browser's network state is ignored.
      queries: { retry: false, networkMode: 'always', staleTime: 1000 },
      mutations: { retry: false, networkMode: 'always' },
    },
  });
  return queryClient;
}
