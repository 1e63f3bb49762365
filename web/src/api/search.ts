import { useInfiniteQuery } from '@tanstack/react-query';
import type { OutputSearch } from '../lib/searchParams.ts';
import { endsOfRange } from '../lib/runRange.ts';
import { client } from './client.ts';
import { keys } from './keys.ts';
import { dataOf } from './problem.ts';

/** Searches the output of runs, newest first. Each page reports how far it searched; the next one continues there. */
export function useOutputSearch(wanted: OutputSearch) {
  return useInfiniteQuery({
    queryKey: keys.search(wanted),
    queryFn: ({ signal, pageParam }) => {
      // A cursor is valid only for the range of its first page, so a begin relative to now is kept with it.
      const [kept, cursor] = pageParam.includes(' ') ? pageParam.split(' ') : [undefined, pageParam];
      const ends = endsOfRange(wanted);
      const from = kept ?? (typeof ends.from === 'number' ? new Date(Date.now() + ends.from).toISOString() : ends.from);
      return dataOf(
        client.GET('/api/v1/runs/search', {
          params: {
            query: {
              q: wanted.q ?? '', job: wanted.job, group: wanted.group, worker: wanted.worker, from, to: ends.to, status: wanted.status && [wanted.status], regex: wanted.regex, case: wanted.case,
              cursor: cursor || undefined,
            },
          },
          signal,
        }),
      ).then((page) => (page.nextCursor && from !== undefined ? { ...page, nextCursor: `${from} ${page.nextCursor}` } : page));
    },
    initialPageParam: '',
    getNextPageParam: (last) => last.nextCursor,
    enabled: wanted.q !== undefined && wanted.q !== '',
    refetchOnWindowFocus: false,
    retry: false,
    staleTime: 60_000,
  });
}
