import { useQuery } from '@tanstack/react-query';
import { client } from './client.ts';
import { keys } from './keys.ts';
import { dataOf } from './problem.ts';

/** What is running on the other side; asked again when the server has been away. */
export function useVersion() {
  return useQuery({ queryKey: keys.server, queryFn: ({ signal }) => dataOf(client.GET('/version', { signal })), staleTime: Infinity });
}
