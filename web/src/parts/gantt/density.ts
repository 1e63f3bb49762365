// Fires per minute, as a strip above the lanes.

import { lengthOf, minute, type Span } from './span.ts';

/** Fires of one minute or, if only the hour is known, the average per minute. */
export interface Count {
  at: number;
  fires: number;
}

export interface Column {
  at: number;
  /** The highest minute in it. */
  fires: number;
  /** Time of that minute. */
  peakAt: number;
  /** Total, if each minute is known. */
  total: number;
}

const widths = [1, 2, 5, 10, 15, 30, 60, 120, 180, 360].map((n) => n * minute);

/** Time span of a column of the strip, wide enough to be visible. */
export function columnFor(span: Span, width: number, least = 4): number {
  const wanted = (lengthOf(span) / Math.max(1, width)) * least;
  return widths.find((w) => w >= wanted) ?? 720 * minute;
}

/** Groups minutes into columns; a column has the height of its highest minute, so that peaks stay visible. */
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

/** Counts planned fires by minute. */
export function minutesOf(times: Iterable<number>): Count[] {
  const counts = new Map<number, number>();
  for (const time of times) {
    const at = Math.floor(time / minute) * minute;
    counts.set(at, (counts.get(at) ?? 0) + 1);
  }
  return [...counts].map(([at, fires]) => ({ at, fires })).sort((a, b) => a.at - b.at);
}
