import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { client } from './client.ts';
import { keys } from './keys.ts';
import { unlessLive } from './live.ts';
import { dataOf } from './problem.ts';
import type { components } from './schema.gen.ts';

export type CalendarDay = components['schemas']['Day'];

/** The fires of a job by day, from one date to before another: 2026-03-29; with a backfill also the fires of that. */
export function useCalendar(job: string, from: string, to: string, backfill: string | undefined) {
  return useQuery({
    queryKey: keys.calendar({ job, from, to, backfill }),
    queryFn: ({ signal }) => dataOf(client.GET('/api/v1/jobs/{name}/calendar', { params: { path: { name: job }, query: { from, to, backfill } }, signal })),
    placeholderData: keepPreviousData,
    refetchInterval: unlessLive(2000),
  });
}
