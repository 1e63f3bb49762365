import { keepPreviousData, useInfiniteQuery, useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { client } from './client.ts';
import { keys } from './keys.ts';
import { dataOf } from './problem.ts';

const listed = 30;

/** Versions of a job's definition, newest first; also of a deleted job. */
export function useVersions(name: string, { enabled = true } = {}) {
  return useInfiniteQuery({
    queryKey: keys.versionList(name),
    queryFn: ({ signal, pageParam }) => dataOf(client.GET('/api/v1/jobs/{name}/versions', { params: { path: { name }, query: { limit: listed, cursor: pageParam || undefined } }, signal })),
    initialPageParam: '',
    getNextPageParam: (last) => last.nextCursor || undefined,
    enabled,
  });
}

/** A job in an earlier version. */
export function useVersion(name: string, version: number | undefined) {
  return useQuery({
    queryKey: keys.jobVersion(name, version),
    queryFn: ({ signal }) => dataOf(client.GET('/api/v1/jobs/{name}/versions/{version}', { params: { path: { name, version: version ?? 0 } }, signal })),
    enabled: version !== undefined,
    staleTime: Infinity,
  });
}

/** The difference between two versions. Versions never change, so it is loaded once. */
export function useVersionDiff(name: string, pair: readonly [from: number, to: number] | undefined) {
  return useQuery({
    queryKey: keys.versionDiff(name, pair),
    queryFn: ({ signal }) => dataOf(client.GET('/api/v1/jobs/{name}/versions/{version}/diff', { params: { path: { name, version: pair?.[0] ?? 0 }, query: { to: pair?.[1] } }, signal })),
    enabled: pair !== undefined,
    placeholderData: keepPreviousData,
    staleTime: Infinity,
  });
}

/** Restores a version, only if the current one is the one that the etag names (412 otherwise). */
export function useRollback() {
  const queryClient = useQueryClient();
  return useMutation({
    mutationFn: ({ name, version, note, etag }: { name: string; version: number; note: string; etag: string }) =>
      dataOf(client.POST('/api/v1/jobs/{name}/rollback', { params: { path: { name }, header: { 'If-Match': etag } }, body: { version, ...(note !== '' && { note }) } })),
    onSuccess: (_job, { name }) => Promise.all([queryClient.invalidateQueries({ queryKey: keys.jobs }), queryClient.invalidateQueries({ queryKey: keys.versionList(name) })]),
  });
}
