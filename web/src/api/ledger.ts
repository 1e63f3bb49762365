import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { localZone } from '../lib/localTime.ts';
import { nearest, reach } from '../lib/reach.ts';
import { client } from './client.ts';
import { chosenFires, type FireChoice, type Stretch } from './fires.ts';
import { pageSize } from './jobs.ts';
import { keys } from './keys.ts';
import { unlessLive } from './live.ts';
import { dataOf } from './problem.ts';

export interface LedgerFilter extends Stretch {
  job?: string | undefined;
  group?: string | undefined;
  statuses: readonly FireChoice[];
  /** Leave out acknowledged failures. */
  open?: boolean;
}

/** Returns both ends as times; those relative to now are resolved. */
export function endsOf({ from, to }: Stretch, now: number): { from: string | undefined; to: string | undefined } {
  const timeOf = (end: number | string | undefined) => (typeof end === 'number' ? new Date(now + end).toISOString() : end);
  return { from: timeOf(from), to: timeOf(to) };
}

/** One page of the ledger for a filter. A cursor is valid only for the exact range of its first page. */
export async function ledgerPage(filter: LedgerFilter, ends: { from: string | undefined; to: string | undefined }, cursor: string | undefined, limit: number, signal: AbortSignal) {
  const query = { ...ends, ...chosenFires(filter.statuses), unacknowledged: filter.open || undefined, cursor, limit };
  return dataOf(
    filter.job === undefined
      ? client.GET('/api/v1/fires', { params: { query: { ...query, group: filter.group } }, signal })
      : client.GET('/api/v1/jobs/{name}/fires', { params: { path: { name: filter.job }, query }, signal }),
  );
}

/** The ledger, and planned fires if the range reaches beyond now; newest first. */
export function useLedger(filter: LedgerFilter, cursor: string, enabled: boolean) {
  return useQuery({
    queryKey: keys.fireList(filter, cursor),
    queryFn: async ({ signal }) => {
      // The range of the first page is kept with its cursor, since it may be relative to now.
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

/** Counts of fires by outcome over a range; undefined for a group, which has no counts. */
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

// The server counts planned fires by a part of the job's name; for a single job its fires are listed from the next one
// on.
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
  // Newest first: if a minute holds more than a page, its earliest fires are missing.
  return page.nextCursor === undefined ? page.items.slice(-count) : [];
}

/** Returns the next planned fires, the nearest last, and the time of the first one if there are too many to list. */
export function useAhead({ job, group }: Pick<LedgerFilter, 'job' | 'group'>, count: number, enabled: boolean) {
  return useQuery({
    queryKey: keys.ahead({ job, group }, count),
    queryFn: ({ signal }) => (job === undefined ? aheadOfAll(group, count, signal) : aheadOfJob(job, count, signal)),
    enabled,
    placeholderData: keepPreviousData,
    refetchInterval: 10_000,
  });
}
