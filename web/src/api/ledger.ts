import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { client } from './client.ts';
import type { Stretch } from './fires.ts';
import { pageSize } from './jobs.ts';
import { keys } from './keys.ts';
import { unlessLive } from './live.ts';
import { dataOf } from './problem.ts';
import type { FireStatus } from './types.ts';

export interface LedgerFilter extends Stretch {
  job?: string | undefined;
  group?: string | undefined;
  statuses: readonly FireStatus[];
}

/** The two ends as times, where they are told from now. */
export function endsOf({ from, to }: Stretch, now: number): { from: string | undefined; to: string | undefined } {
  const timeOf = (end: number | string | undefined) => (typeof end === 'number' ? new Date(now + end).toISOString() : end);
  return { from: timeOf(from), to: timeOf(to) };
}

/** One page of the ledger as a filter asks for it. A cursor is only good with the very ends that its first page had. */
export async function ledgerPage(filter: LedgerFilter, ends: { from: string | undefined; to: string | undefined }, cursor: string | undefined, limit: number, signal: AbortSignal) {
  const query = { ...ends, status: filter.statuses.length > 0 ? [...filter.statuses] : undefined, cursor, limit };
  return dataOf(
    filter.job === undefined
      ? client.GET('/api/v1/fires', { params: { query: { ...query, group: filter.group } }, signal })
      : client.GET('/api/v1/jobs/{name}/fires', { params: { path: { name: filter.job }, query }, signal }),
  );
}

/** The ledger, and the planned future where the stretch reaches beyond now; the newest first. */
export function useLedger(filter: LedgerFilter, cursor: string, enabled: boolean) {
  return useQuery({
    queryKey: keys.fireList(filter, cursor),
    queryFn: async ({ signal }) => {
      // The stretch of the first page goes on with its cursor, as it moves with the clock.
      const [from, to, bare] = cursor === '' ? [] : cursor.split(' ');
      const ends = cursor === '' ? endsOf(filter, Date.now()) : { from: from || undefined, to: to || undefined };
      const page = await ledgerPage(filter, ends, bare, pageSize, signal);
      return page.nextCursor ? { ...page, nextCursor: [ends.from ?? '', ends.to ?? '', page.nextCursor].join(' ') } : page;
    },
    enabled,
    placeholderData: keepPreviousData,
    refetchInterval: unlessLive(3000),
  });
}
