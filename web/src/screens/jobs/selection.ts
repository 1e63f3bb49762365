// The selected jobs. Decides only; the page stores it.

import type { Settings } from '../../lib/manySettings.ts';

/** The properties of a selected job that bulk actions need. */
export interface Picked {
  name: string;
  title?: string | undefined;
  group: string;
  paused: boolean;
  hidden: boolean;
  /** The settings that can be changed for many jobs, as the job sets them itself. */
  settings?: Omit<Settings, 'name'>;
}

export type Selection = ReadonlyMap<string, Picked>;

export const none: Selection = new Map();

export function toggled(selection: Selection, job: Picked): Selection {
  const next = new Map(selection);
  if (!next.delete(job.name)) next.set(job.name, job);
  return next;
}

/** How many of the jobs of a list are selected. */
export type Extent = 'none' | 'some' | 'all';

/** Compares a selection with the number of jobs that can be selected: those of the list, most at once. */
export function extentOf(selection: Selection, total: number, most: number): Extent {
  if (selection.size === 0) return 'none';
  return selection.size >= Math.min(total, most) ? 'all' : 'some';
}

export function withAll(selection: Selection, jobs: readonly Picked[]): Selection {
  const next = new Map(selection);
  for (const job of jobs) next.set(job.name, job);
  return next;
}

/** Returns the jobs from one to another in either direction; undefined if the list no longer contains both. */
export function between<T extends { name: string }>(jobs: readonly T[], one: string, other: string): T[] | undefined {
  const ends = [one, other].map((name) => jobs.findIndex((job) => job.name === name));
  return ends.includes(-1) ? undefined : jobs.slice(Math.min(...ends), Math.max(...ends) + 1);
}

/** Splits jobs by permission of the signed-in user. */
export function allowed(selection: Selection, may: (group: string) => boolean): { yes: Picked[]; no: Picked[] } {
  const yes: Picked[] = [];
  const no: Picked[] = [];
  for (const job of selection.values()) (may(job.group) ? yes : no).push(job);
  const byName = (a: Picked, b: Picked) => (a.name < b.name ? -1 : 1);
  return { yes: yes.sort(byName), no: no.sort(byName) };
}
