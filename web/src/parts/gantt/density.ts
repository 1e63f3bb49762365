// Fires per minute, as a strip above the lanes.

import { looks } from './draw.ts';
import type { Bar } from './bars.ts';
import { lengthOf, minute, type Span } from './span.ts';

/** Outcomes, in the order of a stack from below; fires without one yet are live, and planned ones neutral. */
export const stackTones = ['ok', 'bad', 'warn', 'idle', 'live', 'plan'] as const;
export type StackTone = (typeof stackTones)[number];

/** Fires of one minute or, if only the hour is known, the average per minute. */
export interface Count {
  at: number;
  fires: number;
  /** By outcome; absent where only the sum is known. */
  by?: Partial<Record<StackTone, number>>;
}

export interface Column {
  at: number;
  /** The highest minute in it. */
  fires: number;
  /** Time of that minute. */
  peakAt: number;
  /** Outcomes of that minute. */
  by?: Partial<Record<StackTone, number>> | undefined;
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
  for (const { at, fires, by } of counts) {
    if (at < span.from - column || at >= span.to || fires <= 0) continue;
    const start = Math.floor(at / column) * column;
    const known = columns.get(start);
    if (!known) columns.set(start, { at: start, fires, peakAt: at, total: fires, ...(by && { by }) });
    else {
      known.total += fires;
      if (fires > known.fires) Object.assign(known, { fires, peakAt: at, by });
    }
  }
  return [...columns.values()].sort((a, b) => a.at - b.at);
}

/** Counts fires by the minute of their planned time; the last attempt of a fire decides its outcome. */
export function minutesOf(bars: Iterable<Bar>): Count[] {
  const last = new Map<string, Bar>();
  for (const bar of bars) {
    const fire = bar.run?.fire ?? bar.id;
    if ((last.get(fire)?.run?.attempt ?? -1) < (bar.run?.attempt ?? 0)) last.set(fire, bar);
  }
  const counts = new Map<number, Required<Count>>();
  for (const { run, fire, status } of last.values()) {
    const at = Math.floor(Date.parse(run?.plannedAt ?? fire?.plannedAt ?? '') / minute) * minute;
    const count = counts.get(at) ?? { at, fires: 0, by: {} };
    const tone = toneOf(status);
    count.fires++;
    count.by[tone] = (count.by[tone] ?? 0) + 1;
    counts.set(at, count);
  }
  return [...counts.values()].sort((a, b) => a.at - b.at);
}

function toneOf(status: Bar['status']): StackTone {
  if (status === 'planned') return 'plan';
  return status === 'waiting' ? 'live' : looks[status].tone;
}
