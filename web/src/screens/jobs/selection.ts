// Which jobs are selected. Decides only; the page keeps it.

/** What of a selected job the acts on many need to know. */
export interface Picked {
  name: string;
  group: string;
  paused: boolean;
  hidden: boolean;
}

export type Selection = ReadonlyMap<string, Picked>;

export const none: Selection = new Map();

export function toggled(selection: Selection, job: Picked): Selection {
  const next = new Map(selection);
  if (!next.delete(job.name)) next.set(job.name, job);
  return next;
}

/** All of these are selected, or, where they are already, none of them is. */
export function toggledAll(selection: Selection, jobs: readonly Picked[]): Selection {
  const next = new Map(selection);
  const all = jobs.every((job) => next.has(job.name));
  for (const job of jobs) {
    if (all) next.delete(job.name);
    else next.set(job.name, job);
  }
  return next;
}

export function withAll(selection: Selection, jobs: readonly Picked[]): Selection {
  const next = new Map(selection);
  for (const job of jobs) next.set(job.name, job);
  return next;
}

/** Those from one to another, either way round; undefined where the list does not hold both any more. */
export function between<T extends { name: string }>(jobs: readonly T[], one: string, other: string): T[] | undefined {
  const ends = [one, other].map((name) => jobs.findIndex((job) => job.name === name));
  return ends.includes(-1) ? undefined : jobs.slice(Math.min(...ends), Math.max(...ends) + 1);
}

/** Parts those whom the one who is signed in may do something with from the others. */
export function allowed(selection: Selection, may: (group: string) => boolean): { yes: Picked[]; no: Picked[] } {
  const yes: Picked[] = [];
  const no: Picked[] = [];
  for (const job of selection.values()) (may(job.group) ? yes : no).push(job);
  const byName = (a: Picked, b: Picked) => (a.name < b.name ? -1 : 1);
  return { yes: yes.sort(byName), no: no.sort(byName) };
}
