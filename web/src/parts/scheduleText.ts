import type { TFunction } from 'i18next';
import type { Job, JobSchedule } from '../api/types.ts';
import { effective } from '../lib/effective.ts';
import { listed } from '../lib/lists.ts';
import { visible } from '../lib/visible.ts';

/** Reports whether a job has a schedule, or several. */
export function hasSchedule(job: Pick<Job, 'cronExpr' | 'schedules'>): boolean {
  return Boolean(job.cronExpr) || (job.schedules ?? []).length > 0;
}

/** Returns the cron expressions of a job. */
export function expressionsOf(job: Pick<Job, 'cronExpr' | 'schedules'>): string[] {
  return job.schedules?.map(({ cronExpr }) => cronExpr) ?? (job.cronExpr ? [job.cronExpr] : []);
}

/** Returns one of several schedules on a line. */
export function scheduleLine({ cronExpr, timezone, jitter, startAt, endAt, params, label }: JobSchedule, at: number): string {
  const rest = [
    timezone && `(${timezone})`, startAt && `≥ ${startAt}`, endAt && `≤ ${endAt}`, jitter && `+ ${jitter}`,
    ...Object.entries(params ?? {}).map(([name, value]) => `${name}=${value}`), label && `# ${label}`,
  ];
  return [`${at + 1}. ${cronExpr}`, ...rest].filter(Boolean).join(' ');
}

/** Returns the time zone of a job's schedule, also an inherited one; of several, that of the first one. */
export function zoneOf(job: Job): string | undefined {
  const { schedules, timezone } = effective(job).job;
  return schedules?.[0]?.timezone ?? timezone;
}

/** Returns the different time zones of a job's schedules. */
export function zonesOf(job: Job): string[] {
  const { job: whole } = effective(job);
  return [...new Set((whole.schedules ?? [whole]).flatMap(({ timezone }) => (timezone ? [timezone] : [])))];
}

/** Returns when a job without a schedule runs. */
export function scheduleText(t: TFunction, language: string, job: Pick<Job, 'after' | 'daemon'>): string {
  if (job.daemon) return job.daemon.count === 'all' ? t('jobs.keptOnAll') : t('jobs.kept', { count: Number(job.daemon.count) });
  return job.after && job.after.length > 0 ? t('jobs.onlyAfter', { jobs: visible(listed(job.after, language)) }) : t('jobs.onlyTriggered');
}
