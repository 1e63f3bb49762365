// Months, states and selections of the calendar of a job's fires. Dates are texts, such as 2026-03-29.

import type { CalendarDay } from '../../api/calendar.ts';
import type { FireStatus } from '../../api/types.ts';
import { statusLooks, type StatusTone } from '../../parts/statusLooks.ts';
import type { IconName } from '../../parts/icons.tsx';

/** State of a day: that of some of its fires; or all of them are yet to be backfilled, have no entry, or do not exist. */
export type DayState = FireStatus | 'backfill' | 'unrecorded' | 'none';

/** States in the order of their rank: a day has the first one that any of its fires has. */
export const dayStates = ['running', 'waiting', 'backfill', 'failed', 'lost', 'timed_out', 'refused', 'missed', 'killed', 'succeeded', 'skipped', 'unrecorded', 'planned', 'none'] as const satisfies readonly DayState[];

export const dayLooks: Record<DayState, { icon: IconName | undefined; tone: StatusTone | undefined }> = {
  ...statusLooks,
  backfill: { icon: 'history', tone: 'live' },
  unrecorded: { icon: 'minus', tone: undefined },
  planned: { icon: undefined, tone: undefined },
  none: { icon: undefined, tone: undefined },
};

/** Returns how many fires of a day are in each state, those of highest rank first; 'none' is never counted. */
export function countsOf({ statuses, running, waiting, backfill, unrecorded, planned }: CalendarDay, future: boolean): { state: DayState; count: number }[] {
  const of: Partial<Record<DayState, number>> = { ...statuses, running, waiting, backfill, unrecorded, planned: future ? planned : 0 };
  return dayStates.map((state) => ({ state, count: of[state] ?? 0 })).filter(({ count }) => count > 0);
}

/** Returns the state of a day, and the number of its fires in that state. */
export function stateOf(day: CalendarDay, future: boolean): { state: DayState; count: number } {
  return countsOf(day, future)[0] ?? { state: 'none', count: 0 };
}

const shifted = (date: string, days: number) => new Date(Date.parse(`${date}T00:00:00Z`) + days * 86_400_000).toISOString().slice(0, 10);

/** Returns the month some months later: 2026-03. */
export function monthAfter(month: string, months: number): string {
  const [year = 0, number = 0] = month.split('-').map(Number);
  return new Date(Date.UTC(year, number - 1 + months, 1)).toISOString().slice(0, 7);
}

/** Returns the dates of some months, of which the last one is given: the end is exclusive. */
export function datesOf(last: string, months: number): { from: string; to: string } {
  return { from: `${monthAfter(last, 1 - months)}-01`, to: `${monthAfter(last, 1)}-01` };
}

/** Returns the day of the week of a date; Monday is 0. */
const weekdayOf = (date: string) => (new Date(`${date}T00:00:00Z`).getUTCDay() + 6) % 7;

export interface Month {
  month: string;
  /** Days by weeks from Monday; those of other months are undefined. */
  weeks: (CalendarDay | undefined)[][];
}

/** Divides days into months and weeks. */
export function monthsOf(days: readonly CalendarDay[]): Month[] {
  const months: Month[] = [];
  for (const day of days) {
    const month = day.date.slice(0, 7);
    if (months.at(-1)?.month !== month) months.push({ month, weeks: [] });
    const weeks = months.at(-1)?.weeks ?? [];
    const weekday = weekdayOf(day.date);
    if (weekday === 0 || weeks.length === 0) weeks.push(Array.from({ length: 7 }));
    const week = weeks.at(-1);
    if (week) week[weekday] = day;
  }
  return months;
}

const moves: Record<string, (date: string) => number> = {
  ArrowLeft: () => -1, ArrowRight: () => 1, ArrowUp: () => -7, ArrowDown: () => 7, PageUp: () => -28, PageDown: () => 28,
  Home: (date) => -weekdayOf(date), End: (date) => 6 - weekdayOf(date),
};

/** Returns the date that a key moves to, within the bounds; undefined for other keys. */
export function dateFor(key: string, date: string, { first, last }: { first: string; last: string }): string | undefined {
  const move = moves[key];
  if (!move) return undefined;
  const next = shifted(date, move(date));
  return next < first ? first : next > last ? last : next;
}

/** A selection of days from where it began to where it is. */
export interface Selection {
  from: string;
  to: string;
}

/** Returns the past days of a selection, in order. */
export function selectedDays(days: readonly CalendarDay[], { from, to }: Selection, today: string): CalendarDay[] {
  const [first, last] = from < to ? [from, to] : [to, from];
  return days.filter(({ date }) => date >= first && date <= last && date <= today);
}

/** Returns the times of the first and after the last of some days; undefined for none. */
export function timesOf(days: readonly CalendarDay[]): { from: string; to: string } | undefined {
  const [first, last] = [days[0], days.at(-1)];
  const utc = (time: string) => new Date(time).toISOString().replace('.000Z', 'Z');
  return first && last && { from: utc(first.from), to: utc(last.to) };
}

/** Returns the date of a time in a zone. */
export function dateIn(zone: string, at: number): string {
  return new Intl.DateTimeFormat('en-CA', { timeZone: zone, year: 'numeric', month: '2-digit', day: '2-digit' }).format(at);
}

/** Returns the last month of a range in a zone, which is not later than the current one. */
export const lastMonthOf = (zone: string, to: string): string => dateIn(zone, Math.min(Date.parse(to) - 1, Date.now())).slice(0, 7);

const outcomes = ['running', 'failed', 'succeeded', 'skipped', 'waiting'] as const;

/** Returns how many dates of the chosen backfill are on a day, by how far they are. */
export function chosenOf({ chosen }: CalendarDay): { status: (typeof outcomes)[number]; count: number }[] {
  return outcomes.map((status) => ({ status, count: chosen?.[status] ?? 0 })).filter(({ count }) => count > 0);
}
