import { useQuery } from '@tanstack/react-query';
import { client } from './client.ts';
import { keys } from './keys.ts';
import { dataOf } from './problem.ts';

/** The live masters. They cause no events. */
export function useMasters() {
  return useQuery({
    queryKey: keys.masters,
    queryFn: ({ signal }) => dataOf(client.GET('/api/v1/masters', { signal })),
    refetchInterval: 5000,
  });
}
