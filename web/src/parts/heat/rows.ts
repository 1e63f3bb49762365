// The minutes of a day as rows of an hour each, by a zone's wall clock.

import { nextDay, offsetAt, startOfDay, wallAt } from '../../lib/zone.ts';

const minute = 60_000;
const hour = 60 * minute;

export interface HeatRow {
  /** Start of the hour. */
  at: number;
  /** Its wall clock: 02:00. */
  clock: string;
  /** Offset from UTC, if the day has this hour twice: +02:00. */
  offset: string;
  /** Values by minute; undefined if unknown or past. */
  cells: (number | undefined)[];
}

/** Counts by minute from a start on. */
export interface Minutes {
  start: number;
  counts: readonly number[];
}

const two = (n: number) => String(n).padStart(2, '0');

export function clockOf(zone: string, at: number): string {
  const wall = wallAt(zone, at);
  return `${two(wall.getUTCHours())}:${two(wall.getUTCMinutes())}`;
}

export function dateOf(zone: string, at: number): string {
  return wallAt(zone, at).toISOString().slice(0, 10);
}

function offsetText(ms: number): string {
  const minutes = Math.round(Math.abs(ms) / minute);
  return `${ms < 0 ? '−' : '+'}${two(Math.floor(minutes / 60))}:${two(minutes % 60)}`;
}

/** Returns the value of a minute. */
export function countAt({ start, counts }: Minutes, at: number): number | undefined {
  return counts[Math.floor((at - start) / minute)];
}

/**
 * A day has 24 rows, 23 when the clock goes forward, and 25 when it goes back: then two of them have the same wall
 * clock.
 */
export function rowsOfDay(zone: string, at: number, minutes: Minutes): HeatRow[] {
  const begin = startOfDay(zone, at);
  const end = nextDay(zone, at);
  const rows: HeatRow[] = [];
  for (let row = begin; row < end; row += hour) {
    const cells = Array.from({ length: Math.min(60, Math.round((end - row) / minute)) }, (_, i) => countAt(minutes, row + i * minute));
    rows.push({ at: row, clock: clockOf(zone, row), offset: '', cells });
  }
  const times = rows.map((row) => row.clock);
  for (const row of rows) if (times.filter((clock) => clock === row.clock).length > 1) row.offset = offsetText(offsetAt(zone, row.at));
  // Hours that are past or not counted have no value.
  return rows.filter((row) => row.cells.some((cell) => cell !== undefined));
}

/** Totals of a day, for the day picker. */
export interface DaySum {
  date: string;
  at: number;
  fires: number;
  peak: number;
}

/** Returns the days of a zone that a range of minutes touches. */
export function daysOf(zone: string, minutes: Minutes): DaySum[] {
  const end = minutes.start + minutes.counts.length * minute;
  const days: DaySum[] = [];
  for (let at = startOfDay(zone, minutes.start); at < end; at = nextDay(zone, at)) {
    const to = nextDay(zone, at);
    const own = minutes.counts.slice(Math.max(0, Math.round((at - minutes.start) / minute)), Math.max(0, Math.round((to - minutes.start) / minute)));
    days.push({ date: dateOf(zone, at), at, fires: own.reduce((a, b) => a + b, 0), peak: own.reduce((a, b) => Math.max(a, b), 0) });
  }
  return days;
}
