// The columns of the jobs table: width, sort key, and priority if there is no room for all.

import type { JobOrder, JobSort } from '../../lib/jobFilter.ts';

export const columnIds = ['group', 'labels', 'schedule', 'results', 'last', 'next', 'p95', 'success', 'updated'] as const;
export type ColumnId = (typeof columnIds)[number];

interface Column {
  /** In rem. */
  width: number;
  order?: JobOrder;
  /** The highest is placed first. */
  rank: number;
}

export const columns: Record<ColumnId, Column> = {
  group: { width: 9, order: 'group', rank: 2 },
  labels: { width: 10, rank: 1 },
  schedule: { width: 11, rank: 7 },
  results: { width: 7.5, rank: 8 },
  last: { width: 6.75, order: 'lastRun', rank: 5 },
  next: { width: 6.75, order: 'nextFire', rank: 6 },
  p95: { width: 6.5, order: 'duration', rank: 4 },
  success: { width: 5.5, order: 'success', rank: 3.5 },
  updated: { width: 7, order: 'updated', rank: 3 },
};

/** The columns that are always shown: check box, name, actions. */
const boxWidth = 2.5;
const nameWidth = 16;
const actsWidth = 5.25;

/** The columns that are hidden by default. */
export const hiddenAtFirst: readonly ColumnId[] = ['updated'];

/** Returns the column that an order is by. */
export function columnOf(sort: JobSort | undefined): ColumnId | undefined {
  return columnIds.find((id) => columns[id].order !== undefined && columns[id].order === sort?.replace(/^-/, ''));
}

/**
 * Returns the chosen columns that fit, in display order, by priority. Room is in rem. The column by which the list is
 * sorted is chosen, and placed first.
 */
export function columnsIn(room: number, chosen: readonly ColumnId[], sorted?: ColumnId): ColumnId[] {
  const wanted = sorted === undefined || chosen.includes(sorted) ? chosen : [...chosen, sorted];
  const rank = (id: ColumnId) => (id === sorted ? Infinity : columns[id].rank);
  let left = room - boxWidth - nameWidth - actsWidth;
  const shown = new Set<ColumnId>();
  for (const id of [...wanted].sort((a, b) => (rank(a) < rank(b) ? 1 : -1))) {
    if (columns[id].width > left) continue;
    shown.add(id);
    left -= columns[id].width;
  }
  return columnIds.filter((id) => shown.has(id));
}

/** Returns the columns as a CSS grid template. */
export function templateOf(shown: readonly ColumnId[]): string {
  const others = shown.map((id) => (id === 'schedule' || id === 'labels' || id === 'group' ? `minmax(0, ${(columns[id].width / nameWidth).toFixed(2)}fr)` : `${columns[id].width}rem`));
  return [`${boxWidth}rem`, 'minmax(0, 1fr)', ...others, `${actsWidth}rem`].join(' ');
}
