import type { TFunction } from 'i18next';
import { events } from '../api/jobs.ts';
import type { Job } from '../api/types.ts';
import type { inheritable } from '../lib/effective.ts';
import { formatSeconds, parseDuration } from '../lib/duration.ts';
import { listed, sentences } from '../lib/lists.ts';
import { formatTime } from '../lib/time.ts';
import { hasSchedule, zoneOf } from './scheduleText.ts';
import { visible } from '../lib/visible.ts';

/** A policy in words. With the field of the job that defaults may set, if there is one. */
export type Policy = [name: string, sentence: string, field?: (typeof inheritable)[number]];

/** Returns the job's policies as names and sentences, including the values of unset fields. */
export function policies(t: TFunction, language: string, job: Job): Policy[] {
  const time = (text: string | undefined, otherwise: string) => {
    const seconds = parseDuration(text || otherwise);
    return seconds === undefined ? visible(text ?? '') : formatSeconds(seconds, language);
  };
  const list = (items: readonly (string | number)[]) => visible(listed(items.map(String), language));
  const fires = hasSchedule(job);
  const { catchUp, retry, placement, autoPause, notify, retention } = job;
  const steps = Object.entries(notify?.after ?? {}).map(([time, to]) => t('policy.notifyStep', { time, to: list(to) }));
  const notified = events.filter((event) => notify?.on?.includes(event));
  const policy = catchUp?.policy || 'latest';
  const max = retry?.max ?? 0;
  const at = (iso: string) => formatTime(iso, language);
  const span =
    job.startAt && job.endAt ? t('policy.between', { from: at(job.startAt), to: at(job.endAt) })
    : job.startAt ? t('policy.from', { from: at(job.startAt) })
    : job.endAt ? t('policy.until', { to: at(job.endAt) })
    : undefined;
  const entries: [string, string | undefined, Policy[2]?][] = [
    [t('policy.span'), fires ? span : undefined],
    [t('policy.jitter'), fires && job.jitter ? t('policy.jitterText', { jitter: time(job.jitter, '0') }) : undefined],
    [t('policy.overlap'), t(`policy.overlapText.${job.overlap || 'skip'}`)],
    [t('policy.deadline'), fires ? t('policy.deadlineText', { deadline: time(job.startDeadline, '5m') }) : undefined],
    [
      t('policy.catchUp'),
      fires ? t(`policy.catchUpText.${policy}`, { window: time(catchUp?.window, '1h'), max: catchUp?.max || 10 }) : undefined,
    ],
    [
      t('policy.retry'),
      max === 0
        ? t('policy.noRetry')
        : sentences([
            t('policy.retryText', { count: max, backoff: time(retry?.backoff, '5s'), maxBackoff: time(retry?.maxBackoff, '5m') }),
            retry?.exitCodes && retry.exitCodes.length > 0 ? t('policy.retryCodes', { codes: list(retry.exitCodes) }) : undefined,
            (job.steps ?? []).length > 0 ? t('policy.retryFlow') : retry?.elsewhere === false ? t('policy.retryAnywhere') : t('policy.retryElsewhere'),
          ], language),
      'retry',
    ],
    [t('policy.lost'), t(`policy.lostText.${job.onLost || 'rerun'}`, { after: time(job.lostAfter, '60s') }), 'lostAfter'],
    [
      t('policy.placement'),
      sentences([
        placement?.workers && placement.workers.length > 0 ? t('policy.pinned', { workers: list(placement.workers) }) : undefined,
        placement?.selector ? t('policy.selector', { selector: visible(placement.selector) }) : undefined,
        t(`policy.strategyText.${placement?.strategy || 'hash'}`),
      ], language),
      'placement',
    ],
    [t('policy.scarce'), t('policy.scarceText', { count: job.slots || 1, priority: job.priority || 5 })],
    [t('policy.pool'), job.pool ? t('policy.poolText', { count: job.poolSlots || 1, pool: visible(job.pool) }) : undefined],
    [t('policy.autoPause'), autoPause ? t('policy.autoPauseText', { count: autoPause.failures }) : undefined],
    [
      t('policy.notify'),
      notified.length > 0 && notify?.to && notify.to.length > 0
        ? [
            t('policy.notifyText', { to: list(notify.to), events: list(notified.map((event) => t(`policy.event.${event}`))) }),
            steps.length > 0 && t('policy.notifyAfter', { steps: list(steps) }),
            notify.quiet && t(notify.urgent ? 'policy.notifyUrgent' : 'policy.notifyQuiet', { from: notify.quiet.from, to: notify.quiet.to, zone: visible(notify.quiet.timezone ?? zoneOf(job) ?? 'UTC') }),
          ].filter(Boolean).join(' ')
        : t('policy.noNotify'),
      'notify',
    ],
    [
      t('policy.retention'),
      retention?.runs
        ? t('policy.retentionRuns', { count: retention.runs, age: time(retention.age, '30d') })
        : t('policy.retentionText', { age: time(retention?.age, '30d') }),
      'retention',
    ],
  ];
  return entries.filter((entry): entry is Policy => entry[1] !== undefined && entry[1] !== '');
}

/** Returns the policies that the job does not leave at their defaults. */
export function differingPolicies(t: TFunction, language: string, job: Job): Policy[] {
  const { name, cronExpr, schedules, meta } = job;
  const usual = new Map(policies(t, language, { name, meta, ...(cronExpr !== undefined && { cronExpr }), ...(schedules && { schedules }) }).map(([of, sentence]) => [of, sentence]));
  return policies(t, language, job).filter(([of, sentence]) => usual.get(of) !== sentence);
}
