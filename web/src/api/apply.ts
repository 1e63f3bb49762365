import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { client } from './client.ts';
import { keys } from './keys.ts';
import { dataOf } from './problem.ts';
import type { Definition } from './types.ts';

async function apply(jobs: Definition[], dryRun: boolean, signal?: AbortSignal) {
  return dataOf(client.POST('/api/v1/jobs/apply', { params: { query: { dryRun: dryRun || undefined } }, body: { jobs }, signal }));
}

/** Returns the changes that applying these jobs would make; writes nothing. */
export function useDryRun(jobs: Definition[], enabled = true) {
  return useQuery({ queryKey: keys.dryRun(jobs), queryFn: ({ signal }) => apply(jobs, true, signal), enabled: enabled && jobs.length > 0, staleTime: 0, gcTime: 0 });
}

/** Creates or updates many jobs, each independently. */
export function useApply() {
  const queryClient = useQueryClient();
  return useMutation({ mutationFn: (jobs: Definition[]) => apply(jobs, false), onSuccess: () => queryClient.invalidateQueries({ queryKey: keys.jobs }) });
}
