import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { client } from './client.ts';
import { pageSize } from './jobs.ts';
import { keys } from './keys.ts';
import { dataOf } from './problem.ts';
import { statuses } from './runs.ts';
import type { FireStatus } from './types.ts';

export const fireStatuses: readonly FireStatus[] = ['planned', ...statuses];

/** A stretch of time: the two ends in milliseconds from now, or two times. An end that is left out is open, and the later one is now. */
export interface Stretch {
  from?: number | string | undefined;
  to?: number | string | undefined;
}

export interface FireFilter extends Stretch {
  job?: string | undefined;
  status?: FireStatus | undefined;
}

function timeOf(end: number | string | undefined): string | undefined {
  return typeof end === 'number' ? new Date(Date.now() + end).toISOString() : end;
}

/** The ledger, and the planned future where the stretch reaches beyond now; the newest first. */
export function useFires(filter: FireFilter, cursor: string, { limit = pageSize, enabled = true } = {}) {
  return useQuery({
    queryKey: keys.fireList({ ...filter, limit }, cursor),
    queryFn: ({ signal }) => {
      const query = { from: timeOf(filter.from), to: timeOf(filter.to), status: filter.status && [filter.status], cursor: cursor || undefined, limit };
      return dataOf(
        filter.job === undefined
          ? client.GET('/api/v1/fires', { params: { query }, signal })
          : client.GET('/api/v1/jobs/{name}/fires', { params: { path: { name: filter.job }, query }, signal }),
      );
    },
    enabled,
    placeholderData: keepPreviousData,
    refetchInterval: 3000,
  });
}
