import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { client } from './client.ts';
import { keys } from './keys.ts';
import { dataOf } from './problem.ts';

const shortest = 2000;

/** What a run has used over time: until it ends, read again after each sample, and once afterwards. */
export function useRunUsage(id: string, ended: boolean, enabled: boolean) {
  return useQuery({
    queryKey: keys.usage(id, ended),
    queryFn: ({ signal }) => dataOf(client.GET('/api/v1/runs/{id}/usage', { params: { path: { id } }, signal })),
    enabled,
    placeholderData: keepPreviousData,
    // Its last samples may follow its end.
    refetchInterval: ({ state: { data } }) => (data === undefined || data.live ? shortest : false),
  });
}
