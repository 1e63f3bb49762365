import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { localZone } from '../lib/localTime.ts';
import { client } from './client.ts';
import { unlessLive } from './live.ts';
import { dataOf } from './problem.ts';
import type { components } from './schema.gen.ts';

export type Forecast = components['schemas']['Forecast'];
export type PileUp = components['schemas']['PileUp'];
export type ClockChange = components['schemas']['DSTTime'];

/** How far ahead the server counts, with buckets of a minute and of an hour. */
export const aheadByMinute = 7 * 86_400_000;
export const aheadByHour = 14 * 86_400_000;

/** The forecast: number of fires, peaks, and clock changes. It changes with jobs, not with runs. */
export function useForecast(group: string | undefined, to: number, by: 'minute' | 'hour', enabled = true) {
  return useQuery({
    queryKey: ['forecast', group, to, by],
    queryFn: ({ signal }) => dataOf(client.GET('/api/v1/forecast', { params: { query: { group, to: new Date(to).toISOString(), by, timezone: localZone() } }, signal })),
    enabled,
    placeholderData: keepPreviousData,
    refetchInterval: unlessLive(30_000),
  });
}
