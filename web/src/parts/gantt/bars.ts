// Bars on the axis: past and current runs, and planned fires.

import type { Fire, FireStatus, Run } from '../../api/types.ts';

export interface Bar {
  id: string;
  job: string;
  /** Title of the job, if it has one. */
  title: string | undefined;
  group: string;
  status: FireStatus;
  /** Actual or planned start. */
  from: number;
  /** End; undefined for a running one, the usual end for a planned one. */
  to: number | undefined;
  /** Expected end; for a planned one the end of a slow run. */
  expected: number | undefined;
  run?: Run;
  fire?: Fire;
}

/** Usual durations of a job's runs, in milliseconds. */
export interface Usual {
  p50: number;
  p95: number;
}

const ms = (iso: string | undefined) => (iso === undefined ? undefined : Date.parse(iso));

export function barOfRun(run: Run): Bar {
  const from = ms(run.startedAt) ?? ms(run.claimedAt) ?? ms(run.plannedAt) ?? 0;
  const ended = ms(run.endedAt);
  const goesOn = run.status === 'running' || run.status === 'waiting';
  return {
    id: run.id, job: run.job, title: run.jobTitle, group: run.group ?? '', status: run.status, from, run,
    to: goesOn ? undefined : Math.max(from, ended ?? from), expected: run.status === 'running' ? ms(run.expectedEndAt) : undefined,
  };
}

export function barOfFire(fire: Fire, usual: Usual | undefined): Bar {
  const from = ms(fire.dueAt) ?? ms(fire.plannedAt) ?? 0;
  return {
    id: fire.id, job: fire.job, title: fire.jobTitle, group: fire.group ?? '', status: fire.status, from, fire,
    to: usual ? from + usual.p50 : from, expected: usual ? from + usual.p95 : undefined,
  };
}

/** Returns the end of a bar on the axis; a running one reaches to now. */
export const endOf = (bar: Bar, now: number) => bar.to ?? Math.max(bar.from, now);

/** Returns the end of a bar including its expected end. */
export const reachOf = (bar: Bar, now: number) => Math.max(endOf(bar, now), bar.expected ?? 0);

/** Returns median and 95th percentile of the durations of successful runs by job. */
export function usualOf(runs: readonly Run[]): Map<string, Usual> {
  const took = new Map<string, number[]>();
  for (const run of runs) {
    const from = ms(run.startedAt);
    const to = ms(run.endedAt);
    if (run.status !== 'succeeded' || from === undefined || to === undefined) continue;
    const list = took.get(run.job) ?? [];
    list.push(to - from);
    took.set(run.job, list);
  }
  const at = (sorted: number[], share: number) => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0;
  return new Map([...took].map(([job, list]) => {
    list.sort((a, b) => a - b);
    return [job, { p50: at(list, 0.5), p95: at(list, 0.95) }];
  }));
}
