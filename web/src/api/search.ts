import { useInfiniteQuery } from '@tanstack/react-query';
import type { OutputSearch } from '../lib/searchParams.ts';
import { client } from './client.ts';
import { keys } from './keys.ts';
import { dataOf } from './problem.ts';

/** Searches the output of runs, newest first. Each page reports how far it searched; the next one continues there. */
export function useOutputSearch(wanted: OutputSearch) {
  return useInfiniteQuery({
    queryKey: keys.search(wanted),
    queryFn: ({ signal, pageParam }) =>
      dataOf(
        client.GET('/api/v1/runs/search', {
          params: {
            query: {
              q: wanted.q ?? '', job: wanted.job, status: wanted.status && [wanted.status], regex: wanted.regex, case: wanted.case, cursor: pageParam || undefined,
            },
          },
          signal,
        }),
      ),
    initialPageParam: '',
    getNextPageParam: (last) => last.nextCursor,
    enabled: wanted.q !== undefined && wanted.q !== '',
    refetchOnWindowFocus: false,
    retry: false,
    staleTime: 60_000,
  });
}
