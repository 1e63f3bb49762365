import { useQuery } from '@tanstack/react-query';
import { client } from './client.ts';
import { keys } from './keys.ts';
import { dataOf } from './problem.ts';

/** The cluster in a few numbers, and what is not as it should be. */
export function useOverview() {
  return useQuery({
    queryKey: keys.overview,
    queryFn: ({ signal }) => dataOf(client.GET('/api/v1/stats/overview', { signal })),
    refetchInterval: 10_000,
  });
}
