import { useQuery } from '@tanstack/react-query';
import { client } from './client.ts';
import { keys } from './keys.ts';
import { dataOf } from './problem.ts';

/** The types of jobs, with the schemas of their settings. */
export function useJobTypes() {
  return useQuery({
    queryKey: keys.types,
    queryFn: async ({ signal }) => (await dataOf(client.GET('/api/v1/types', { signal }))).items,
    staleTime: 30_000,
  });
}
