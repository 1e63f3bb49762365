import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { client } from './client.ts';
import { pageSize } from './jobs.ts';
import { keys } from './keys.ts';
import { unlessLive } from './live.ts';
import { dataOf } from './problem.ts';
import { statuses } from './runs.ts';
import type { FireStatus } from './types.ts';

export const fireStatuses: readonly FireStatus[] = ['planned', ...statuses];

/** What the ledger can be filtered by: a status, of which `waiting` leaves out the fires of paused jobs, or `paused`, these. */
export type FireChoice = FireStatus | 'paused';
export const fireChoices: readonly FireChoice[] = fireStatuses.flatMap((status) => (status === 'waiting' ? [status, 'paused' as const] : [status]));

/** Returns the query for fires with one of these choices. */
export function chosenFires(choices: readonly FireChoice[]): { status: FireStatus[] | undefined; paused: 'exclude' | 'only' | undefined } {
  const [waiting, paused] = [choices.includes('waiting'), choices.includes('paused')];
  const status = [...new Set(choices.map((choice) => (choice === 'paused' ? 'waiting' : choice)))];
  return { status: status.length > 0 ? status : undefined, paused: waiting === paused ? undefined : waiting ? 'exclude' : 'only' };
}

/**
 * A time range: both ends in milliseconds from now, or both as times. A missing end is open; the later end defaults to
 * now.
 */
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

/** A cursor is valid only for the range of its first page, so a range relative to now is stored with it. */
function parted(cursor: string): { from?: string; to?: string; cursor?: string } {
  const [from, to, bare] = cursor.split(' ');
  return { ...(from && { from }), ...(to && { to }), ...(bare && { cursor: bare }) };
}

/** The ledger, and planned fires if the range reaches beyond now; newest first. */
export function useFires(filter: FireFilter, cursor: string, { limit = pageSize, enabled = true, pausing = false } = {}) {
  return useQuery({
    queryKey: keys.fireList({ ...filter, limit }, cursor),
    queryFn: async ({ signal }) => {
      const stretch = cursor ? parted(cursor) : { from: timeOf(filter.from), to: timeOf(filter.to) };
      const query = { ...stretch, status: filter.status && [filter.status], limit };
      const page = await dataOf(
        filter.job === undefined
          ? client.GET('/api/v1/fires', { params: { query }, signal })
          : client.GET('/api/v1/jobs/{name}/fires', { params: { path: { name: filter.job }, query }, signal }),
      );
      return page.nextCursor ? { ...page, nextCursor: [stretch.from ?? '', stretch.to ?? '', page.nextCursor].join(' ') } : page;
    },
    enabled,
    placeholderData: keepPreviousData,
    // Fires that are skipped during a pause cause no event.
    refetchInterval: pausing ? 5000 : unlessLive(3000),
  });
}
