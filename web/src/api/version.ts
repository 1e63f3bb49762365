import { useQuery } from '@tanstack/react-query';
import { client } from './client.ts';
import { keys } from './keys.ts';
import { dataOf } from './problem.ts';

/** The server's version; refetched after the server was unreachable. */
export function useVersion() {
  return useQuery({ queryKey: keys.server, queryFn: ({ signal }) => dataOf(client.GET('/version', { signal })), staleTime: Infinity });
}

/** The time zone of schedules that name none; undefined while unknown, and of an older server. */
export function useServerZone(): string | undefined {
  return useVersion().data?.timezone;
}
