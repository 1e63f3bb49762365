// The one notation of times: near days by their name, others by weekday and date, in the viewer's zone. The zone is
// written where it differs; tooltips have the time in full, and the instant.

import { currentSecond } from './ticks.ts';

// Creating a formatter takes a hundred times as long as using it, and a list of jobs uses a hundred.
const kept = new Map<string, Intl.DateTimeFormat | Intl.RelativeTimeFormat>();

function keep<F extends Intl.DateTimeFormat | Intl.RelativeTimeFormat>(key: string, make: () => F): F {
  const known = kept.get(key);
  if (known) return known as F;
  if (kept.size >= 500) kept.clear(); // the number of zones is unbounded, since jobs define them
  const made = make();
  kept.set(key, made);
  return made;
}

const days = (language: string) => keep(`days ${language}`, () => new Intl.RelativeTimeFormat(language, { numeric: 'auto' }));

/** Returns the number of the day of a time in a zone; an unknown zone counts as the viewer's. */
function dayOf(at: Date, timeZone: string | undefined): number {
  const parts = keep(`day ${timeZone ?? ''}`, () => new Intl.DateTimeFormat('en-US', { timeZone, year: 'numeric', month: '2-digit', day: '2-digit' })).formatToParts(at);
  const part = (type: Intl.DateTimeFormatPartTypes) => Number(parts.find((p) => p.type === type)?.value ?? 0);
  return Date.UTC(part('year'), part('month') - 1, part('day')) / 86_400_000;
}

/** Returns the format of days that have no name: weekday and date, with the year if asked. */
function dateFormat(language: string, timeZone: string | undefined, year: boolean): Intl.DateTimeFormat {
  return keep(`date ${language} ${timeZone ?? ''} ${year}`, () => new Intl.DateTimeFormat(language, { timeZone, weekday: 'short', month: 'short', day: 'numeric', ...(year && { year: 'numeric' }) }));
}

/** Returns the day of a time: "today", "yesterday", "tomorrow", "Fri, Nov 20"; with the year if it is not the current one. */
export function formatDay(iso: string, language: string, timeZone?: string, now = currentSecond()): string {
  const date = new Date(iso);
  if (Number.isNaN(date.getTime())) return iso;
  const today = new Date(now);
  const away = dayOf(date, timeZone) - dayOf(today, timeZone);
  if (Math.abs(away) <= 1) return days(language).format(away, 'day');
  const year = (at: Date) => keep(`year ${timeZone ?? ''}`, () => new Intl.DateTimeFormat('en-US', { timeZone, year: 'numeric' })).format(at);
  return dateFormat(language, timeZone, year(date) !== year(today)).format(date);
}

/** Returns the time of day, with seconds unless they are zero: "14:03", "14:03:05"; always with them for columns. */
export function formatTimeOfDay(iso: string, language: string, timeZone?: string, seconds: 'seconds' | 'short' = 'short'): string {
  const date = new Date(iso);
  if (Number.isNaN(date.getTime())) return iso;
  const second = seconds === 'short' && date.getUTCSeconds() === 0 ? undefined : '2-digit';
  return keep(`clock ${language} ${timeZone ?? ''} ${second ?? ''}`, () => new Intl.DateTimeFormat(language, { timeZone, hour: '2-digit', minute: '2-digit', second, hourCycle: 'h23' })).format(date);
}

/** The one form of times: "today 14:03", "yesterday 09:10", "Fri, Nov 20, 14:03", with seconds unless they are zero. */
export function formatTime(iso: string, language: string, timeZone?: string, now = currentSecond()): string {
  if (Number.isNaN(new Date(iso).getTime())) return iso;
  const day = formatDay(iso, language, timeZone, now);
  const separator = /\d$/.test(day) ? ', ' : ' ';
  return `${day}${separator}${formatTimeOfDay(iso, language, timeZone)}`;
}

/** A stretch of time, with the day once if both ends are on one: "today 14:00 – 15:00". */
export function formatPeriod(from: string, to: string, language: string, timeZone?: string, now = currentSecond()): string {
  const same = formatDay(from, language, timeZone, now) === formatDay(to, language, timeZone, now);
  return `${formatTime(from, language, timeZone, now)} – ${same ? formatTimeOfDay(to, language, timeZone) : formatTime(to, language, timeZone, now)}`;
}

/** Formats a time in full, in a named zone and with the zone written out; an unknown zone falls back to the viewer's. */
export function formatTimeInZone(iso: string, language: string, timeZone?: string): string {
  const date = new Date(iso);
  if (Number.isNaN(date.getTime())) return iso;
  const options: Intl.DateTimeFormatOptions = { dateStyle: 'full', timeStyle: 'long', hourCycle: 'h23' };
  const own = () => keep(`full ${language}`, () => new Intl.DateTimeFormat(language, options));
  if (timeZone === undefined) return own().format(date);
  try {
    return keep(`full ${language} ${timeZone}`, () => new Intl.DateTimeFormat(language, { ...options, timeZone })).format(date);
  } catch {
    return own().format(date);
  }
}

/** Returns a time for a tooltip: in full in the viewer's zone, in the other zone if given, and the instant with milliseconds. */
export function inFull(iso: string, language: string, zone?: string): string {
  const date = new Date(iso);
  if (Number.isNaN(date.getTime())) return iso;
  return [...new Set([formatTimeInZone(iso, language), formatTimeInZone(iso, language, zone), date.toISOString()])].join('\n');
}

/**
 * Returns the wall clock of an RFC 3339 text in its own offset:
 * {"date":"2026-03-29","time":"02:30:00","offset":"+01:00"}.
 */
export function wallClock(rfc3339: string): { date: string; time: string; offset: string } | undefined {
  const m = /^(\d{4}-\d\d-\d\d)T(\d\d:\d\d:\d\d)(?:\.\d+)?(Z|[+-]\d\d:\d\d)$/.exec(rfc3339);
  return m ? { date: m[1] ?? '', time: m[2] ?? '', offset: m[3] === 'Z' ? '+00:00' : (m[3] ?? '') } : undefined;
}

/** A time on two clocks: that of a job's zone, and the viewer's, which is left out where they agree. */
export interface TwoClocks {
  day: string;
  time: string;
  offset: string;
  own?: { day: string | undefined; time: string; offset: string };
}

/**
 * Returns a fire on its job's clock, and on the viewer's if that differs. "today" and its like are the same day on
 * both: where the fire or the present has two dates, both are written with weekday and date.
 */
export function onTwoClocks(rfc3339: string, language: string, own: string, now = currentSecond()): TwoClocks | undefined {
  const [wall, yours, present] = [wallClock(rfc3339), wallClock(rfc3339In(rfc3339, own)), wallClock(rfc3339In(new Date(now).toISOString(), own))];
  if (!wall || !yours || !present) return undefined;
  const [today, theirs] = [present.date, dateAt(now, wall.offset)];
  const day = (date: string) => formatDate(date, language, today === theirs && wall.date === yours.date ? today : undefined, today);
  const apart = wall.offset !== yours.offset;
  return { day: day(wall.date), time: wall.time, offset: wall.offset, ...(apart && { own: { day: wall.date === yours.date ? undefined : day(yours.date), time: yours.time, offset: yours.offset } }) };
}

/** Returns the date of a time at an offset from UTC such as "+01:00". */
function dateAt(at: number, offset: string): string {
  const [hours = 0, minutes = 0] = offset.slice(1).split(':').map(Number);
  return new Date(at + (offset.startsWith('-') ? -1 : 1) * (hours * 60 + minutes) * 60_000).toISOString().slice(0, 10);
}

/** Returns a date without a time as "today", "tomorrow", "Thu, Nov 26"; with the year if it is not that of today. */
export function formatDate(date: string, language: string, today: string | undefined, ofYear = today): string {
  const at = Date.parse(`${date}T00:00:00Z`);
  const away = (at - Date.parse(`${today}T00:00:00Z`)) / 86_400_000;
  if (Math.abs(away) <= 1) return days(language).format(away, 'day');
  return dateFormat(language, 'UTC', date.slice(0, 4) !== ofYear?.slice(0, 4)).format(at);
}

/** Returns a wall clock time without its seconds if they are zero: "02:30" of "02:30:00". */
export function shortClock(time: string): string {
  return time.endsWith(':00') ? time.slice(0, -3) : time;
}

/** Returns the weekday of a date in the reader's language. */
export function weekday(date: string, language: string): string {
  return new Intl.DateTimeFormat(language, { weekday: 'short', timeZone: 'UTC' }).format(new Date(`${date}T00:00:00Z`));
}

const steps: [Intl.RelativeTimeFormatUnit, number][] = [['day', 86400], ['hour', 3600], ['minute', 60], ['second', 1]];

/** "in 5 minutes", "3 hours ago", in the reader's language; short for tables: "in 5 min.". */
export function relativeTime(iso: string, now: number, language: string, style: 'long' | 'short' = 'long'): string {
  const seconds = (Date.parse(iso) - now) / 1000;
  if (Number.isNaN(seconds)) return iso;
  const [unit, size] = steps.find(([, s]) => Math.abs(seconds) >= s) ?? ['second', 1];
  // The long form in Chinese is 5秒钟后, while the short one is the usual; numbers are separated by a space as everywhere.
  const form = language === 'zh' ? 'short' : style;
  return keep(`relative ${language} ${form}`, () => new Intl.RelativeTimeFormat(language, { numeric: 'auto', style: form })).format(Math.trunc(seconds / size), unit).replace(/(\d)(?=\p{Script=Han})/u, '$1 ');
}

/**
 * Returns the same time as RFC 3339 in a named zone, as the server writes a job's fires; unchanged for an unknown zone.
 */
export function rfc3339In(iso: string, timeZone: string): string {
  const date = new Date(iso);
  if (Number.isNaN(date.getTime())) return iso;
  try {
    const parts = new Intl.DateTimeFormat('en-US', {
      timeZone, hourCycle: 'h23', year: 'numeric', month: '2-digit', day: '2-digit', hour: '2-digit', minute: '2-digit', second: '2-digit', timeZoneName: 'longOffset',
    }).formatToParts(date);
    const part = (type: Intl.DateTimeFormatPartTypes) => parts.find((p) => p.type === type)?.value ?? '';
    const offset = part('timeZoneName').replace('GMT', '').slice(0, 6) || '+00:00';
    return `${part('year')}-${part('month')}-${part('day')}T${part('hour')}:${part('minute')}:${part('second')}${offset}`;
  } catch {
    return iso;
  }
}

/** Replaces the times in a text of the server, such as 2026-11-27T22:00:00Z and 2026-11-27 22:00 UTC, by those of the viewer's clock. */
export function localTimes(text: string, language: string): string {
  return text.replace(/\b(\d{4}-\d\d-\d\d)(?:T(\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d))|(?: (\d\d:\d\d) UTC))/g, (_, day: string, exact?: string, minute?: string) => formatTime(`${day}T${exact ?? `${minute}:00Z`}`, language));
}

/** Reports whether a text of the server is a time, to be shown in the viewer's zone. */
export function isTime(text: string): boolean {
  return /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$/.test(text);
}
