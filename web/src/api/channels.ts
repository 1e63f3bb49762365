import { useQuery } from '@tanstack/react-query';
import { client } from './client.ts';
import { keys } from './keys.ts';
import { dataOf } from './problem.ts';

/** The channels that jobs can send notifications to. */
export function useChannels() {
  return useQuery({ queryKey: keys.channels, queryFn: ({ signal }) => dataOf(client.GET('/api/v1/channels', { signal })) });
}
