import { keepPreviousData, useInfiniteQuery, useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { client } from './client.ts';
import { keys } from './keys.ts';
import { dataOf } from './problem.ts';

const listed = 30;

/** What became of a job's definition, the newest first; that of a deleted job as well. */
export function useVersions(name: string, { enabled = true } = {}) {
  return useInfiniteQuery({
    queryKey: keys.versionList(name),
    queryFn: ({ signal, pageParam }) => dataOf(client.GET('/api/v1/jobs/{name}/versions', { params: { path: { name }, query: { limit: listed, cursor: pageParam || undefined } }, signal })),
    initialPageParam: '',
    getNextPageParam: (last) => last.nextCursor || undefined,
    enabled,
  });
}

/** A job as it was. */
export function useVersion(name: string, version: number | undefined) {
  return useQuery({
    queryKey: keys.jobVersion(name, version),
    queryFn: ({ signal }) => dataOf(client.GET('/api/v1/jobs/{name}/versions/{version}', { params: { path: { name, version: version ?? 0 } }, signal })),
    enabled: version !== undefined,
    staleTime: Infinity,
  });
}

/** How a job became another one. What was does not change any more, so it is asked for once. */
export function useVersionDiff(name: string, pair: readonly [from: number, to: number] | undefined) {
  return useQuery({
    queryKey: keys.versionDiff(name, pair),
    queryFn: ({ signal }) => dataOf(client.GET('/api/v1/jobs/{name}/versions/{version}/diff', { params: { path: { name, version: pair?.[0] ?? 0 }, query: { to: pair?.[1] } }, signal })),
    enabled: pair !== undefined,
    placeholderData: keepPreviousData,
    staleTime: Infinity,
  });
}

/** Lets a job be again what it was: only if it is still what the etag names (412 otherwise). */
export function useRollback() {
  const queryClient = useQueryClient();
  return useMutation({
    mutationFn: ({ name, version, note, etag }: { name: string; version: number; note: string; etag: string }) =>
      dataOf(client.POST('/api/v1/jobs/{name}/rollback', { params: { path: { name }, header: { 'If-Match': etag } }, body: { version, ...(note !== '' && { note }) } })),
    onSuccess: (_job, { name }) => Promise.all([queryClient.invalidateQueries({ queryKey: keys.jobs }), queryClient.invalidateQueries({ queryKey: keys.versionList(name) })]),
  });
}
