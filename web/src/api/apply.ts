import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { client } from './client.ts';
import { keys } from './keys.ts';
import { dataOf } from './problem.ts';
import type { Definition } from './types.ts';

async function apply(jobs: Definition[], dryRun: boolean, signal?: AbortSignal) {
  return dataOf(client.POST('/api/v1/jobs/apply', { params: { query: { dryRun: dryRun || undefined } }, body: { jobs }, signal }));
}

/** What applying these jobs would change; nothing is written. */
export function useDryRun(jobs: Definition[], enabled = true) {
  return useQuery({ queryKey: keys.dryRun(jobs), queryFn: ({ signal }) => apply(jobs, true, signal), enabled: enabled && jobs.length > 0, staleTime: 0, gcTime: 0 });
}

/** Creates or changes many jobs, each by itself. */
export function useApply() {
  const queryClient = useQueryClient();
  return useMutation({ mutationFn: (jobs: Definition[]) => apply(jobs, false), onSuccess: () => queryClient.invalidateQueries({ queryKey: keys.jobs }) });
}
