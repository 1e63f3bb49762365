import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { client } from './client.ts';
import { keys } from './keys.ts';
import { unlessLive } from './live.ts';
import { dataOf } from './problem.ts';

/** The replicas of a daemon job, by index. */
export function useReplicas(job: string) {
  return useQuery({
    queryKey: keys.replicas(job),
    queryFn: ({ signal }) => dataOf(client.GET('/api/v1/jobs/{name}/replicas', { params: { path: { name: job } }, signal })),
    // The stream does not report the end of a handover.
    refetchInterval: (query) => (query.state.data?.handover ? 2000 : unlessLive(2000)()),
  });
}

/** Restarts the replicas of a daemon job, one after the other. */
export function useRestartJob() {
  const queryClient = useQueryClient();
  return useMutation({
    mutationFn: (name: string) => dataOf(client.POST('/api/v1/jobs/{name}/restart', { params: { path: { name } } })),
    onSettled: () => Promise.all([queryClient.invalidateQueries({ queryKey: keys.jobs }), queryClient.invalidateQueries({ queryKey: keys.runs })]),
  });
}
