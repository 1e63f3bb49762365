import { expect, it } from 'vitest';
import { fromLocalInput } from './localTime.ts';
import { parseClock, parseWhen, weeksOf, whenText } from './whenText.ts';

it.each([
  ['2026-11-23 14:03', '2026-11-23T14:03'],
  ['2026-11-23T14:03:05', '2026-11-23T14:03:05'],
  ['2026-11-23', '2026-11-23T00:00'],
  ['9:05', '2026-03-01T09:05'],
])('%s is %s', (text, local) => expect(parseWhen(text, new Date(2026, 2, 1))).toBe(fromLocalInput(local)));

it.each(['', 'soon', '2026-02-30 10:00', '2026-13-01', '2026-11-23 24:00', '11/23/2026', '2026-11-23 2:03 pm'])('%j is no time', (text) => expect(parseWhen(text)).toBeUndefined());

it('is written as it is typed', () => {
  expect(whenText(fromLocalInput('2026-11-23T14:03'))).toBe('2026-11-23 14:03');
  expect(whenText(undefined)).toBe('');
});

it('reads clocks', () => {
  expect(parseClock('9:05')).toEqual({ hour: 9, minute: 5 });
  expect(parseClock('1430')).toEqual({ hour: 14, minute: 30 });
  expect(parseClock('24:00')).toBeUndefined();
  expect(parseClock('2:00 pm')).toBeUndefined();
});

it('divides a month into weeks from Monday', () => {
  const weeks = weeksOf(2026, 10);
  expect(weeks).toHaveLength(6);
  expect(weeks[0]?.map((day) => day.getDate())).toEqual([26, 27, 28, 29, 30, 31, 1]);
  expect(weeks.every(([first]) => first?.getDay() === 1)).toBe(true);
});
