// Which job each row in view shows.

import type { Job } from '../../api/types.ts';
import type { RowWindow } from '../../lib/rowWindow.ts';

export interface DrawnRow {
  row: number;
  /** The job in it, or that it is still to come. */
  job: Job | undefined;
}

/** The rows in view. The pages of a list are of different moments: a job that moved may be in two of them, and is shown once, as two elements of one key confuse React. */
export function drawnRows({ first, end }: RowWindow, at: (row: number) => Job | undefined): DrawnRow[] {
  const seen = new Set<string>();
  return Array.from({ length: Math.max(0, end - first) }, (_, i) => {
    const row = first + i;
    const job = at(row);
    if (!job || seen.has(job.name)) return { row, job: undefined };
    seen.add(job.name);
    return { row, job };
  });
}

/** The row that Tab leads to: the keyboard's, or the first one in view where that is out of sight. */
export function tabStop(drawn: readonly DrawnRow[], current: number): number | undefined {
  const there = drawn.filter(({ job }) => job !== undefined);
  return (there.find(({ row }) => row === current) ?? there[0])?.row;
}

/** Who aims at a button sees what it says this long before pressing it. */
const aiming = 700;

/** Since when each row in view shows the job that it shows. */
export class RowAges {
  #rows = new Map<number, { name: string; since: number }>();

  draw(drawn: readonly DrawnRow[], now: number): void {
    const before = this.#rows;
    this.#rows = new Map();
    for (const { row, job } of drawn) {
      if (!job) continue;
      const was = before.get(row);
      // A new row cannot be a target yet.
      this.#rows.set(row, was?.name === job.name ? was : { name: job.name, since: was ? now : -Infinity });
    }
  }

  /** Another job was in this row a moment ago: a click in it may be meant for that one. */
  hasJustMoved(row: number, now: number): boolean {
    const is = this.#rows.get(row);
    return is !== undefined && now - is.since < aiming;
  }
}
