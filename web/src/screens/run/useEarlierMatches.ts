import { useQuery } from '@tanstack/react-query';
import { searchOutput } from '../../api/output.ts';
import type { Wanted } from '../../lib/logsearch.ts';
import type { Stream } from '../../lib/logline.ts';

/** Matches in the part of the output that is not loaded, up to an offset, from the server. */
export function useEarlierMatches(run: string, from: number, only: Stream | undefined, wanted: Wanted, enabled: boolean) {
  const { text, regex, matchCase } = wanted;
  const query = useQuery({
    queryKey: ['output-search', run, only, text, regex, matchCase],
    queryFn: ({ signal }) => searchOutput(run, { q: text, regex: regex || undefined, case: matchCase || undefined, stream: only, limit: 500 }, signal),
    enabled: enabled && from > 0 && text !== '',
    staleTime: 60_000,
    retry: false,
    refetchOnWindowFocus: false,
  });
  const matches = enabled && from > 0 ? (query.data?.matches.filter((match) => match.offset < from) ?? []) : [];
  return { matches, more: matches.length === query.data?.matches.length && query.data?.stopped !== 'end', error: query.error, searching: query.isFetching };
}
