import { expect, it } from 'vitest';
import { calendarOf, outcomeOf } from './calendar.ts';

const none = { succeeded: 0, failed: 0, timed_out: 0, killed: 0, lost: 0, skipped: 0, refused: 0, missed: 0 };

it.each([
  ['none', {}], ['ok', { succeeded: 3 }], ['ok', { succeeded: 1, skipped: 9, killed: 1 }], ['some', { succeeded: 3, failed: 1 }], ['some', { succeeded: 1, lost: 1 }],
  ['most', { failed: 1 }], ['most', { succeeded: 1, timed_out: 1, refused: 1 }], ['idle', { skipped: 1 }], ['idle', { skipped: 4, killed: 1 }], ['most', { missed: 4, killed: 1 }], ['some', { succeeded: 9, missed: 1 }],
] as const)('a day is %s: %j', (outcome, counts) => expect(outcomeOf({ ...none, ...counts })).toBe(outcome));

it('starts each week with Monday', () => {
  const days = ['2026-11-21T00:00:00+01:00', '2026-11-22T00:00:00+01:00', '2026-11-23T00:00:00+01:00', '2026-12-07T00:00:00+01:00'];
  expect(calendarOf(days.map((at) => ({ at, statuses: none }))).map(({ week, weekday }) => [week, weekday])).toEqual([[0, 5], [0, 6], [1, 0], [3, 0]]);
});

it('places days by their date, also over clock changes', () => {
  const days = ['2026-03-28T00:00:00+01:00', '2026-03-29T00:00:00+01:00', '2026-03-30T00:00:00+02:00'];
  expect(calendarOf(days.map((at) => ({ at, statuses: none }))).map(({ week, weekday }) => [week, weekday])).toEqual([[0, 5], [0, 6], [1, 0]]);
  expect(calendarOf([])).toEqual([]);
});
