import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { localZone } from '../lib/localTime.ts';
import { nearest, reach } from '../lib/reach.ts';
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

/** The two ends as times, if they are relative to now. */
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

/** What the fires of a stretch came to; not for a group, of which nothing is counted. */
export function useLedgerSummary(filter: Pick<LedgerFilter, 'job' | 'from' | 'to'>, enabled: boolean) {
  const zone = localZone();
  return useQuery({
    queryKey: keys.ledgerSummary(filter, zone),
    queryFn: ({ signal }) => {
      const query = { ...endsOf(filter, Date.now()), timezone: zone };
      return dataOf(
        filter.job === undefined
          ? client.GET('/api/v1/stats/runs', { params: { query }, signal })
          : client.GET('/api/v1/stats/jobs/{name}', { params: { path: { name: filter.job }, query }, signal }),
      );
    },
    enabled,
    placeholderData: keepPreviousData,
    refetchInterval: 30_000,
  });
}

// The plan is counted by parts of names; of a job alone, its own fires are looked through from the next one on.
async function aheadOfJob(job: string, count: number, signal: AbortSignal) {
  const { meta } = await dataOf(client.GET('/api/v1/jobs/{name}', { params: { path: { name: job } }, signal }));
  if (meta.nextFire === undefined) return [];
  const planned = (from: number, to: number) =>
    ledgerPage({ job, statuses: ['planned'] }, { from: new Date(from).toISOString(), to: new Date(to).toISOString() }, undefined, 500, signal);
  return nearest(planned, Date.parse(meta.nextFire), count);
}

async function aheadOfAll(group: string | undefined, count: number, signal: AbortSignal) {
  const plan = await dataOf(client.GET('/api/v1/forecast', { params: { query: { group, by: 'minute' } }, signal }));
  const far = reach(plan.buckets, Date.parse(plan.start), plan.step * 1000, count);
  if (!far) return [];
  const page = await ledgerPage({ group, statuses: ['planned'] }, { from: plan.from, to: new Date(far.to).toISOString() }, undefined, 500, signal);
  // The newest come first: of a minute that holds more than a page the nearest are not there.
  return page.nextCursor === undefined ? page.items.slice(-count) : [];
}

/** So many of the fires that are planned next, the nearest last, and when the first of them are where there are too many to list. */
export function useAhead({ job, group }: Pick<LedgerFilter, 'job' | 'group'>, count: number, enabled: boolean) {
  return useQuery({
    queryKey: keys.ahead({ job, group }, count),
    queryFn: ({ signal }) => (job === undefined ? aheadOfAll(group, count, signal) : aheadOfJob(job, count, signal)),
    enabled,
    placeholderData: keepPreviousData,
    refetchInterval: 10_000,
  });
}
