import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { client } from './client.ts';
import { keys } from './keys.ts';
import { dataOf } from './problem.ts';
import type { StoredRecord } from './types.ts';

/** The result of all checks of the cluster. They are repeated every half minute, since they ask every etcd member. */
export function useDoctor() {
  return useQuery({ queryKey: keys.doctor, queryFn: ({ signal }) => dataOf(client.GET('/api/v1/system/doctor', { signal })), refetchInterval: 30_000 });
}

/** Deletes a stored value that does not decode, if it has not changed since it was listed (412). */
export function useDeleteRecord() {
  const queryClient = useQueryClient();
  return useMutation({
    mutationFn: ({ key, revision }: StoredRecord) => dataOf(client.DELETE('/api/v1/system/records', { params: { query: { key, revision } } })),
    onSettled: () => queryClient.invalidateQueries({ queryKey: keys.doctor }),
  });
}
