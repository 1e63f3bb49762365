// Queries of the palette: a few results for a few letters.

import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { client } from './client.ts';
import { keys } from './keys.ts';
import { leastSimilar } from '../lib/ranking.ts';
import { dataOf, Problem } from './problem.ts';

/** More than are shown, since the best match need not be the first by name. */
const asked = 20;

/** Jobs with this text in their name or title; if there are none, those with a similar word. */
export function useJobsCalled(q: string, /** Also without a text. */ any = false) {
  return useQuery({
    queryKey: keys.called('jobs', q),
    queryFn: async ({ signal }) => {
      const called = async (similar: boolean) => (await dataOf(client.GET('/api/v1/jobs', { params: { query: { q: q || undefined, limit: asked, ...(similar && { similar }) } }, signal }))).items;
      const exact = await called(false);
      return exact.length === 0 && q.length >= leastSimilar ? called(true) : exact;
    },
    enabled: any || q !== '',
    placeholderData: keepPreviousData,
    staleTime: 5000,
    gcTime: 30_000,
  });
}

/** The run with this id, if there is one. */
export function useRunCalled(id: string) {
  return useQuery({
    queryKey: keys.called('run', id),
    queryFn: async ({ signal }) => {
      try {
        return await dataOf(client.GET('/api/v1/runs/{id}', { params: { path: { id } }, signal }));
      } catch (error) {
        if (error instanceof Problem && error.status < 500) return null;
        throw error;
      }
    },
    enabled: id !== '',
    staleTime: 5000,
    gcTime: 30_000,
  });
}

/** The latest run of a job; null if it has never run. */
export function useLastRun(job: string | undefined) {
  return useQuery({
    queryKey: keys.called('last', job ?? ''),
    queryFn: async ({ signal }) => (await dataOf(client.GET('/api/v1/runs', { params: { query: { job: job ?? '', limit: 1 } }, signal }))).items[0] ?? null,
    enabled: job !== undefined,
    staleTime: 1000,
    gcTime: 30_000,
  });
}
