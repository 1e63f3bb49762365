// Runs as a grid: a column for each fire, oldest on the left, and a row for each attempt.

import type { Run } from '../../api/types.ts';

export interface FireColumn {
  fire: string;
  plannedAt: string;
  /** By row; holes are attempts that are not listed. */
  runs: (Run | undefined)[];
  /** The run with the fire's outcome: its last attempt. */
  last: Run;
  /** From the first start to the last end, in seconds; undefined if nothing ran. */
  seconds: number | undefined;
}

export interface Grid {
  columns: FireColumn[];
  rows: number;
  /** The longest of the columns, in seconds. */
  longest: number;
}

/** Returns the row of a run; fires that did not run are in the row of the first attempt. */
const rowOf = (run: Run) => Math.max(1, run.attempt) - 1;

/** Lays out runs in any order and with duplicates; running ones last until now. */
export function gridOf(runs: readonly Run[], now: number): Grid {
  const byFire = new Map<string, Map<number, Run>>();
  for (const run of runs) {
    const attempts = byFire.get(run.fire) ?? new Map<number, Run>();
    const known = attempts.get(rowOf(run));
    // An entry for a fire that did not run is replaced by a run of it.
    if (!known || run.attempt >= known.attempt) attempts.set(rowOf(run), run);
    byFire.set(run.fire, attempts);
  }
  const columns = [...byFire].map(([fire, attempts]) => columnOf(fire, attempts, now));
  columns.sort((a, b) => Date.parse(a.plannedAt) - Date.parse(b.plannedAt) || (a.fire < b.fire ? -1 : 1));
  return { columns, rows: Math.max(0, ...columns.map((column) => column.runs.length)), longest: Math.max(0, ...columns.map((column) => column.seconds ?? 0)) };
}

function columnOf(fire: string, attempts: Map<number, Run>, now: number): FireColumn {
  const rows = Math.max(...attempts.keys()) + 1;
  const runs = Array.from({ length: rows }, (_, row) => attempts.get(row));
  const last = runs.at(-1) as Run;
  const starts = runs.flatMap((run) => (run?.startedAt ? [Date.parse(run.startedAt)] : []));
  const ends = runs.flatMap((run) => (run?.startedAt ? [run.endedAt ? Date.parse(run.endedAt) : run.status === 'running' ? now : Date.parse(run.startedAt)] : []));
  const seconds = starts.length > 0 ? Math.max(0, Math.max(...ends) - Math.min(...starts)) / 1000 : undefined;
  return { fire, plannedAt: last.plannedAt, runs, last, seconds };
}

/** Returns the height of a bar, from 0 to 1. The square root keeps usual durations visible beside long ones. */
export function heightOf(seconds: number | undefined, longest: number): number {
  if (seconds === undefined) return 0;
  return longest > 0 ? Math.max(0.08, Math.sqrt(seconds / longest)) : 0.08;
}

/**
 * Returns the columns with a date, for labels that need this many columns: the first of each day, else at intervals.
 */
export function ticksOf(columns: readonly { plannedAt: string }[], dayOf: (iso: string) => string, room: number): Map<number, 'day' | 'time'> {
  const ticks = new Map<number, 'day' | 'time'>();
  let free = 0;
  columns.forEach((column, i) => {
    const before = columns[i - 1];
    const newDay = !before || dayOf(before.plannedAt) !== dayOf(column.plannedAt);
    if (i < free) return;
    if (newDay || i - free >= room) {
      ticks.set(i, newDay ? 'day' : 'time');
      free = i + room;
    }
  });
  return ticks;
}

export interface Place {
  column: number;
  row: number;
}

/** Returns the cell that a key leads to; the same cell if there is none. */
export function step(columns: readonly { runs: readonly unknown[] }[], from: Place, key: string): Place {
  const at = (column: number, row: number) => columns[column]?.runs[row] !== undefined;
  const nearest = (column: number): Place => {
    const runs = columns[column]?.runs ?? [];
    for (let d = 0; d < runs.length + from.row + 1; d++) {
      if (at(column, from.row - d)) return { column, row: from.row - d };
      if (at(column, from.row + d)) return { column, row: from.row + d };
    }
    return from;
  };
  const last = columns.length - 1;
  if (last < 0) return from;
  if (key === 'ArrowLeft') return from.column > 0 ? nearest(from.column - 1) : from;
  if (key === 'ArrowRight') return from.column < last ? nearest(from.column + 1) : from;
  if (key === 'Home') return nearest(0);
  if (key === 'End') return nearest(last);
  if (key === 'PageUp') return nearest(Math.max(0, from.column - 10));
  if (key === 'PageDown') return nearest(Math.min(last, from.column + 10));
  const way = key === 'ArrowUp' ? -1 : key === 'ArrowDown' ? 1 : 0;
  const rows = columns[from.column]?.runs.length ?? 0;
  for (let row = from.row + way; way !== 0 && row >= 0 && row < rows; row += way) if (at(from.column, row)) return { column: from.column, row };
  return from;
}
