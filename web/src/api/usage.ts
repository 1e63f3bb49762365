import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { client } from './client.ts';
import { keys } from './keys.ts';
import { dataOf } from './problem.ts';
import { isComing } from '../lib/usage.ts';

const shortest = 2000;

/** What a run has used over time: read again after each sample, until the last one is there. */
export function useRunUsage(id: string, endedAt: string | undefined, enabled: boolean) {
  return useQuery({
    queryKey: keys.usage(id, endedAt !== undefined),
    queryFn: ({ signal }) => dataOf(client.GET('/api/v1/runs/{id}/usage', { params: { path: { id } }, signal })),
    enabled,
    placeholderData: keepPreviousData,
    refetchInterval: ({ state: { data } }) => (isComing(data, endedAt, Date.now()) ? shortest : false),
  });
}
