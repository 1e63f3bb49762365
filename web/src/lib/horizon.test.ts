import { expect, it } from 'vitest';
import { horizon } from './horizon.ts';

const now = Date.parse('2026-12-01T00:00:00Z');
const after = (...seconds: number[]) => seconds.map((s) => new Date(now + s * 1000).toISOString());

it.each([
  [after(60, 120, 180), 3, 256],
  [after(60, 120, 180), 1, 64],
  [after(60), 5, 64],
  [after(-60, 0, 1), 5, 2],
  [after(180, 60, 120), 2, 128],
])('%j: %d of them are within %d s', (fires, count, seconds) => expect(horizon(fires, count, now)).toBe(seconds * 1000));

it('is undefined without future fires', () => {
  expect(horizon([], 5, now)).toBeUndefined();
  expect(horizon(after(-1), 5, now)).toBeUndefined();
});
