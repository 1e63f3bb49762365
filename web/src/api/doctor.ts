import { useQuery } from '@tanstack/react-query';
import { client } from './client.ts';
import { keys } from './keys.ts';
import { dataOf } from './problem.ts';

/** The result of all checks of the cluster. They are repeated every half minute, since they ask every etcd member. */
export function useDoctor() {
  return useQuery({ queryKey: keys.doctor, queryFn: ({ signal }) => dataOf(client.GET('/api/v1/system/doctor', { signal })), refetchInterval: 30_000 });
}
