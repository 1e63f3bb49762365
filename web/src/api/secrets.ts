import { useQuery } from '@tanstack/react-query';
import { client } from './client.ts';
import { keys } from './keys.ts';
import { dataOf } from './problem.ts';

/** The secrets that jobs may refer to, in the groups where the user is an editor; without their values. */
export function useSecrets(enabled: boolean) {
  return useQuery({ queryKey: keys.secrets, queryFn: ({ signal }) => dataOf(client.GET('/api/v1/secrets', { signal })), enabled, staleTime: 60_000 });
}
