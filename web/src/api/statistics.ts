import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { localZone } from '../lib/localTime.ts';
import type { StatisticsRange } from '../lib/searchParams.ts';
import { client } from './client.ts';
import { keys } from './keys.ts';
import { unlessLive } from './live.ts';
import { dataOf } from './problem.ts';

/** Period and bucket of each range. */
export const ranges = {
  day: { hours: 24, by: 'hour' },
  week: { hours: 7 * 24, by: 'day' },
  month: { hours: 30 * 24, by: 'day' },
  quarter: { hours: 90 * 24, by: 'day' },
  year: { hours: 365 * 24, by: 'day' },
} as const satisfies Record<StatisticsRange, { hours: number; by: 'hour' | 'day' }>;

// Maximum period with figures by worker.
const workersFor = 92 * 24;

/** Returns the range that fits the age of a job: the shortest that contains it, 30 days at most. */
export function rangeForAge(created: string | undefined, now: number): StatisticsRange {
  const age = created === undefined ? Infinity : (now - Date.parse(created)) / 3_600_000;
  return (['day', 'week'] as const).find((range) => age <= ranges[range].hours) ?? 'month';
}

/** Statistics of a job's fires, by days in the viewer's zone. */
export function useJobStatistics(job: string, range: StatisticsRange) {
  const zone = localZone();
  const { hours, by } = ranges[range];
  return useQuery({
    queryKey: keys.statistics(job, range, zone),
    queryFn: ({ signal }) =>
      dataOf(
        client.GET('/api/v1/stats/jobs/{name}', {
          params: { path: { name: job }, query: { from: new Date(Date.now() - hours * 3_600_000).toISOString(), by, timezone: zone, workers: hours <= workersFor } },
          signal,
        }),
      ),
    placeholderData: keepPreviousData,
    refetchInterval: unlessLive(30_000),
  });
}
