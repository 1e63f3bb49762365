// Times as they are typed: "2026-11-23 14:03", in the viewer's zone and with 24 hours.

import { toLocalInput } from './localTime.ts';

const form = /^(?:(\d{4})-(\d{1,2})-(\d{1,2})(?:[ T]+|$))?(?:(\d{1,2}):(\d{2})(?::(\d{2}))?)?$/;

/** Returns the text of a time; empty for none. */
export function whenText(iso: string | undefined): string {
  return toLocalInput(iso).replace('T', ' ');
}

/** Returns the time of a text: a date, a time of today, or both; undefined if it is neither. */
export function parseWhen(text: string, now = new Date()): string | undefined {
  const m = form.exec(text.trim());
  if (!m || text.trim() === '') return undefined;
  const [year, month, day] = m[1] === undefined ? [now.getFullYear(), now.getMonth() + 1, now.getDate()] : [Number(m[1]), Number(m[2]), Number(m[3])];
  const [hour, minute, second] = [Number(m[4] ?? 0), Number(m[5] ?? 0), Number(m[6] ?? 0)];
  const at = new Date(year, month - 1, day, hour, minute, second);
  // A date that does not exist, such as February 30, would be another one.
  if (Number.isNaN(at.getTime()) || at.getMonth() !== month - 1 || at.getDate() !== day || hour > 23 || minute > 59 || second > 59) return undefined;
  return at.toISOString().replace('.000Z', 'Z');
}

/** Returns hour and minute of "14:03"; undefined for another text. */
export function parseClock(text: string): { hour: number; minute: number } | undefined {
  const m = /^(\d{1,2}):?(\d{2})$/.exec(text.trim());
  const [hour, minute] = [Number(m?.[1]), Number(m?.[2])];
  return m && hour < 24 && minute < 60 ? { hour, minute } : undefined;
}

/** Returns the days of a month in weeks from Monday, with those of its neighbours that complete them. */
export function weeksOf(year: number, month: number): Date[][] {
  const first = new Date(year, month, 1);
  const start = 1 - ((first.getDay() + 6) % 7);
  const last = new Date(year, month + 1, 0).getDate();
  return Array.from({ length: Math.ceil((last - start + 1) / 7) }, (_, week) => Array.from({ length: 7 }, (_none, day) => new Date(year, month, start + week * 7 + day)));
}
