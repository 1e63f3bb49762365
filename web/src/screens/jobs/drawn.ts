// Maps visible rows to jobs.

import type { Job } from '../../api/types.ts';
import type { RowWindow } from '../../lib/rowWindow.ts';

export interface DrawnRow {
  row: number;
  /** The job, or a placeholder while it is loading. */
  job: Job | undefined;
}

/**
 * Returns the visible rows. Pages are loaded at different times: a job that moved may be on two of them, and is
 * rendered once, since React needs unique keys.
 */
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

/** Returns the row that Tab leads to: the keyboard position, or the first visible row if that is out of view. */
export function tabStop(drawn: readonly DrawnRow[], current: number): number | undefined {
  const there = drawn.filter(({ job }) => job !== undefined);
  return (there.find(({ row }) => row === current) ?? there[0])?.row;
}

/** A user who aims at a button has read its row for at least this long. */
const aiming = 700;

/** Since when each visible row shows its current job. */
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

  /** Another job was in this row a moment ago: the click may be meant for it. */
  hasJustMoved(row: number, now: number): boolean {
    const is = this.#rows.get(row);
    return is !== undefined && now - is.since < aiming;
  }
}
