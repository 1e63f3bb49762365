import { useTranslation } from 'react-i18next';
import { useFires } from '../../api/fires.ts';
import { usePreview } from '../../api/schedules.ts';
import type { Job } from '../../api/types.ts';
import { effective } from '../../lib/effective.ts';
import { horizon } from '../../lib/horizon.ts';
import { zoneOf } from '../../parts/scheduleText.ts';
import { rfc3339In } from '../../lib/time.ts';

const ahead = 10;

/** Returns the later of two optional times. */
function later(a: string | undefined, b: string | undefined): string | undefined {
  if (a === undefined || b === undefined) return a ?? b;
  return Date.parse(a) > Date.parse(b) ? a : b;
}

/**
 * A job's ledger, its next fires, and its schedule in words. The words and the range come from the schedule; the fires
 * from the forecast, which respects pauses and the job's first and last day.
 */
export function useUpcoming(job: Job) {
  const { i18n } = useTranslation();
  const from = later(job.startAt, job.meta.paused ? job.pauseUntil : undefined);
  const reaches = from !== undefined && Date.parse(from) > Date.now();
  const { schedules, cronExpr, timezone, dst } = effective(job).job;
  const preview = usePreview(
    {
      name: job.name, from: reaches ? from : undefined, count: ahead,
      ...(schedules ? { schedules: schedules.map(({ params: _, ...entry }) => entry) } : { cronExpr: cronExpr ?? '', timezone, dst }),
    },
    i18n.language,
  );
  const to = horizon(preview.data?.fires ?? [], ahead, Date.now());
  const past = useFires({ job: job.name }, '', { limit: 40, pausing: job.meta.paused ?? false });
  const plan = useFires({ job: job.name, status: 'planned', to }, '', { limit: 100, enabled: to !== undefined });
  // Newest first: a truncated forecast lacks the nearest fires, which are taken from the schedule.
  const whole = plan.data && !plan.data.nextCursor ? [...plan.data.items].reverse().slice(0, ahead) : undefined;
  const times = to === undefined ? [] : whole ? whole.map((fire) => rfc3339In(fire.plannedAt, zoneOf(job) ?? 'UTC')) : plan.data ? preview.data?.fires : undefined;
  return { preview, past, planned: to === undefined ? [] : (whole ?? []), times, error: preview.error ?? plan.error };
}

export type Upcoming = ReturnType<typeof useUpcoming>;
