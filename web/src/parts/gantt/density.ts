// Fires per minute, as a strip above the lanes.

import { lengthOf, minute, type Span } from './span.ts';

/** Fires of one minute, or, where only an hour is known, so many a minute on the average. */
export interface Count {
  at: number;
  fires: number;
}

export interface Column {
  at: number;
  /** The fullest minute in it. */
  fires: number;
  /** When that is. */
  peakAt: number;
  /** All of them, where each minute is known. */
  total: number;
}

const widths = [1, 2, 5, 10, 15, 30, 60, 120, 180, 360].map((n) => n * minute);

/** The time span of a column of the strip, so that it is visible. */
export function columnFor(span: Span, width: number, least = 4): number {
  const wanted = (lengthOf(span) / Math.max(1, width)) * least;
  return widths.find((w) => w >= wanted) ?? 720 * minute;
}

/** Puts minutes into columns; a column is as high as its fullest minute, so that a pile-up is seen from afar. */
export function columnsOf(counts: readonly Count[], span: Span, column: number): Column[] {
  const columns = new Map<number, Column>();
  for (const { at, fires } of counts) {
    if (at < span.from - column || at >= span.to || fires <= 0) continue;
    const start = Math.floor(at / column) * column;
    const known = columns.get(start);
    if (!known) columns.set(start, { at: start, fires, peakAt: at, total: fires });
    else {
      known.total += fires;
      if (fires > known.fires) Object.assign(known, { fires, peakAt: at });
    }
  }
  return [...columns.values()].sort((a, b) => a.at - b.at);
}

/** Counts what was planned, minute by minute. */
export function minutesOf(times: Iterable<number>): Count[] {
  const counts = new Map<number, number>();
  for (const time of times) {
    const at = Math.floor(time / minute) * minute;
    counts.set(at, (counts.get(at) ?? 0) + 1);
  }
  return [...counts].map(([at, fires]) => ({ at, fires })).sort((a, b) => a.at - b.at);
}
