import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { client } from './client.ts';
import { keys } from './keys.ts';
import { dataOf } from './problem.ts';
import type { PatchRequest } from './types.ts';

/** A change of the settings of many jobs. */
export interface ManyChange {
  jobs: readonly string[];
  patch: Record<string, unknown>;
}

function patch({ jobs, patch: fields }: ManyChange, dryRun: boolean, digest?: string, signal?: AbortSignal) {
  const body = { jobs: [...jobs], patch: fields as PatchRequest['patch'], ...(digest !== undefined && { digest }) };
  return dataOf(client.PATCH('/api/v1/jobs', { params: { query: { dryRun: dryRun || undefined } }, body, ...(signal && { signal }) }));
}

/** Returns what a change would do to the jobs; writes nothing. */
export function useManyReview(change: ManyChange) {
  return useQuery({ queryKey: keys.manyReview(change), queryFn: ({ signal }) => patch(change, true, undefined, signal), staleTime: Infinity, gcTime: 0, retry: false, refetchOnWindowFocus: false });
}

/** Changes jobs as they were reviewed (412 if the effect is another one by now). */
export function usePatchJobs() {
  const queryClient = useQueryClient();
  return useMutation({
    mutationFn: ({ change, digest }: { change: ManyChange; digest: string | undefined }) => patch(change, false, digest),
    onSettled: () => Promise.all([keys.jobs, keys.groups, keys.labels, keys.placements, keys.fires, keys.versions].map((queryKey) => queryClient.invalidateQueries({ queryKey }))),
  });
}
