import { useQuery } from '@tanstack/react-query';
import { client } from './client.ts';
import { keys } from './keys.ts';
import { dataOf } from './problem.ts';

export function useWorkers() {
  return useQuery({
    queryKey: keys.workers,
    queryFn: ({ signal }) => dataOf(client.GET('/api/v1/workers', { signal })),
    refetchInterval: 5000,
  });
}
