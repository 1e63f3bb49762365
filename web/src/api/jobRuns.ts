import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { client } from './client.ts';
import { keys } from './keys.ts';
import { unlessLive } from './live.ts';
import { dataOf } from './problem.ts';
import type { Cause, RunStatus } from './types.ts';

export const causes: readonly Cause[] = ['cron', 'catchup', 'manual', 'retry', 'rerun', 'flow', 'backfill', 'after'];

export interface JobRunFilter {
  job: string;
  status?: RunStatus | undefined;
  cause?: Cause | undefined;
  /** With the last attempts of the fires of failed runs. */
  last?: boolean | undefined;
}

const perPage = 120;

/** The runs of a job, newest first, page by page. */
export function useJobRuns({ job, status, cause, last }: JobRunFilter) {
  return useInfiniteQuery({
    queryKey: keys.jobRuns({ job, status, cause, last }),
    queryFn: ({ signal, pageParam }) =>
      dataOf(client.GET('/api/v1/runs', { params: { query: { job, status: status && [status], cause, last, limit: perPage, cursor: pageParam || undefined } }, signal })),
    initialPageParam: '',
    getNextPageParam: (last) => last.nextCursor || undefined,
    refetchInterval: unlessLive(3000),
  });
}

/** The waiting and running runs of a job. */
export function useGoing(job: string) {
  return useQuery({
    queryKey: keys.going(job),
    queryFn: ({ signal }) => dataOf(client.GET('/api/v1/runs', { params: { query: { job, status: ['waiting', 'running'], limit: 50 } }, signal })),
    refetchInterval: unlessLive(2000),
  });
}
