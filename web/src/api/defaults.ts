import { keepPreviousData, useInfiniteQuery, useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { client } from './client.ts';
import { keys } from './keys.ts';
import { dataOf } from './problem.ts';
import type { Defaults } from './types.ts';

const listed = 20;

/** The defaults that the user may see: those of all jobs, of the user's groups, and of those around them. */
export function useDefaults() {
  return useQuery({ queryKey: keys.defaultsList, queryFn: ({ signal }) => dataOf(client.GET('/api/v1/defaults', { signal })), refetchInterval: 15_000, staleTime: 5_000 });
}

/** Defaults to be saved. */
export interface WantedDefaults {
  group: string;
  /** Empty to delete them. */
  values: Defaults;
  /** Replaces only this version (412 otherwise); undefined if there is none yet. */
  version: number | undefined;
}

function put({ group, values, version }: WantedDefaults, dryRun: boolean, signal?: AbortSignal) {
  return dataOf(
    client.PUT('/api/v1/defaults', {
      params: { query: { group, dryRun: dryRun || undefined }, header: version === undefined ? { 'If-None-Match': '*' } : { 'If-Match': `"${version}"` } },
      body: values, ...(signal && { signal }),
    }),
  );
}

/** Returns which jobs saving these defaults would change; writes nothing. */
export function useDefaultsReview(wanted: WantedDefaults) {
  return useQuery({ queryKey: keys.defaultsReview(wanted), queryFn: ({ signal }) => put(wanted, true, signal), staleTime: Infinity, gcTime: 0, retry: false, refetchOnWindowFocus: false });
}

/** Saves defaults, and changes the jobs that inherit them. */
export function useSaveDefaults() {
  const queryClient = useQueryClient();
  return useMutation({
    mutationFn: (wanted: WantedDefaults) => put(wanted, false),
    onSettled: () => Promise.all([keys.defaults, keys.jobs, keys.placements, keys.fires, keys.versions].map((queryKey) => queryClient.invalidateQueries({ queryKey }))),
  });
}

/** Versions of the defaults of a group, newest first; also of deleted ones. */
export function useDefaultsVersions(group: string) {
  return useInfiniteQuery({
    queryKey: keys.defaultsVersions(group),
    queryFn: ({ signal, pageParam }) => dataOf(client.GET('/api/v1/defaults/versions', { params: { query: { group, limit: listed, cursor: pageParam || undefined } }, signal })),
    initialPageParam: '',
    getNextPageParam: (last) => last.nextCursor || undefined,
    placeholderData: keepPreviousData,
  });
}
