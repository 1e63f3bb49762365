import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { client } from './client.ts';
import { keys } from './keys.ts';
import { dataOf } from './problem.ts';
import type { Hook, HookDefinition } from './types.ts';

/** The hooks of a job, without their URLs. */
export function useHooks(job: string) {
  return useQuery({ queryKey: keys.hooks(job), queryFn: ({ signal }) => dataOf(client.GET('/api/v1/jobs/{name}/hooks', { params: { path: { name: job } }, signal })) });
}

/** Creates a hook, or changes the one of a version, which keeps its URL. The answer to the first has the URL, once. */
export function useSaveHook(job: string) {
  return useHookChange(job, ({ name, definition, version }: { name: string; definition: HookDefinition; /** Absent for a new one. */ version: number | undefined }): Promise<Hook> =>
    version === undefined
      ? dataOf(client.POST('/api/v1/jobs/{name}/hooks', { params: { path: { name: job } }, body: { name, ...definition } }))
      : dataOf(client.PUT('/api/v1/jobs/{name}/hooks/{hook}', { params: { path: { name: job, hook: name }, header: { 'If-Match': `"${version}"` } }, body: definition })));
}

/** Replaces the URL of a hook, and with secret also that of its signature. */
export function useRotateHook(job: string) {
  return useHookChange(job, ({ name, secret }: { name: string; secret: boolean }): Promise<Hook> =>
    dataOf(client.POST('/api/v1/jobs/{name}/hooks/{hook}/rotate', { params: { path: { name: job, hook: name } }, body: { secret } })));
}

export function useDeleteHook(job: string) {
  return useHookChange(job, ({ name }: { name: string }) => dataOf(client.DELETE('/api/v1/jobs/{name}/hooks/{hook}', { params: { path: { name: job, hook: name } } })));
}

function useHookChange<Asked, Answer>(job: string, mutationFn: (asked: Asked) => Promise<Answer>) {
  const queryClient = useQueryClient();
  // Requests and answers hold secrets: they are not kept in memory longer than needed.
  return useMutation({ mutationFn, gcTime: 0, onSettled: () => queryClient.invalidateQueries({ queryKey: keys.hooks(job) }) });
}
