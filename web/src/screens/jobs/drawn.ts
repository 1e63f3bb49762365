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
