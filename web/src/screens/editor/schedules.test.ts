import { expect, it } from 'vitest';
import { asOne, splitSchedule } from './schedules.ts';

it('the schedule of a job becomes the first of several, with all of its fields', () => {
  const first = { cronExpr: '0 3 * * *', timezone: 'Asia/Shanghai', dst: { gap: 'skip' as const }, jitter: '30s', startAt: '2030-01-01T00:00:00Z', endAt: '2031-01-01T00:00:00Z' };
  expect(splitSchedule({ name: 'a', command: 'true', ...first })).toEqual([first, { cronExpr: '', timezone: 'Asia/Shanghai' }]);
});

it('the last of several becomes the schedule of the job, unless it has a label or parameters', () => {
  expect(asOne({ cronExpr: '@daily', timezone: 'UTC' })).toEqual({ cronExpr: '@daily', timezone: 'UTC' });
  expect(asOne({ cronExpr: '@daily', label: 'night' })).toBeUndefined();
  expect(asOne({ cronExpr: '@daily', params: { MODE: 'light' } })).toBeUndefined();
});
