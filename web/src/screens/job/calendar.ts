// The days of a year as columns of weeks.

import type { StatusCounts } from '../../api/types.ts';
import { totalOf } from '../../lib/figures.ts';
import { troubleStatuses } from '../../lib/troubles.ts';

export interface Day {
  at: string;
  statuses: StatusCounts;
}

export interface CalendarDay extends Day {
  /** Column and row; Monday is the first. */
  week: number;
  weekday: number;
  outcome: Outcome;
}

/** Tone of a day: no fires; all successful; some were problems; most were; only skipped or killed. */
export type Outcome = 'none' | 'ok' | 'some' | 'most' | 'idle';

export function outcomeOf(statuses: StatusCounts): Outcome {
  const bad = troubleStatuses.reduce((sum, status) => sum + statuses[status], 0);
  if (totalOf(statuses) === 0) return 'none';
  if (bad + statuses.succeeded === 0) return 'idle';
  if (bad === 0) return 'ok';
  return bad > statuses.succeeded ? 'most' : 'some';
}

/** Places days by the date in their zone: "2026-11-22T00:00:00+01:00". */
export function calendarOf(days: readonly Day[]): CalendarDay[] {
  const numbers = days.map(({ at }) => Math.floor(Date.parse(`${at.slice(0, 10)}T00:00:00Z`) / 86_400_000));
  // 1970-01-01 was a Thursday.
  const monday = (n: number) => n - ((n + 3) % 7);
  const first = monday(numbers[0] ?? 0);
  return days.map((day, i) => {
    const n = numbers[i] ?? 0;
    return { ...day, week: (monday(n) - first) / 7, weekday: n - monday(n), outcome: outcomeOf(day.statuses) };
  });
}
