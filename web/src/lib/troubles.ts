import type { Fire, FireStatus } from '../api/types.ts';
import { firesIn } from './figures.ts';

/** Outcomes that need attention. */
export const troubleStatuses = ['failed', 'timed_out', 'lost', 'missed', 'refused'] as const satisfies readonly FireStatus[];

/** Reports whether an outcome needs attention. */
export function isTrouble(status: FireStatus): boolean {
  return (troubleStatuses as readonly FireStatus[]).includes(status);
}

/** The failed fires of one job. */
export interface Trouble {
  job: string;
  /** Newest first. */
  fires: Fire[];
  group: string | undefined;
  /** Number of fires by outcome; a gap entry counts all its fires. */
  counts: Map<FireStatus, number>;
  last: Fire;
  /** The last run, if any was started. */
  lastRun: string | undefined;
}

/** Groups failed fires by job: the job with the newest failure first. */
export function troublesOf(fires: readonly Fire[]): Trouble[] {
  const byJob = new Map<string, Trouble>();
  for (const fire of fires) {
    const trouble = byJob.get(fire.job) ?? { job: fire.job, group: fire.group, fires: [] as Fire[], counts: new Map(), last: fire, lastRun: undefined };
    if (Date.parse(fire.plannedAt) > Date.parse(trouble.last.plannedAt)) trouble.last = fire;
    trouble.counts.set(fire.status, (trouble.counts.get(fire.status) ?? 0) + (fire.gap?.count ?? 1));
    trouble.fires.push(fire);
    trouble.lastRun ??= fire.attempts.at(-1);
    byJob.set(fire.job, trouble);
  }
  return [...byJob.values()].sort((a, b) => Date.parse(b.last.plannedAt) - Date.parse(a.last.plannedAt) || a.job.localeCompare(b.job));
}

/** Failures that need attention, and those that were acknowledged. */
export interface Attention {
  open: number;
  acknowledged: number;
}

/** Counts the fires with one of these outcomes. */
export function attentionOf(fires: readonly Fire[], statuses: readonly FireStatus[]): Attention {
  const counted = fires.filter(({ status }) => statuses.includes(status));
  return { open: firesIn(counted.filter(isOpen)), acknowledged: firesIn(counted.filter((fire) => !isOpen(fire))) };
}

/** Reports whether a failure has not been acknowledged. */
export function isOpen(fire: Fire): boolean {
  return fire.acknowledged === undefined;
}
