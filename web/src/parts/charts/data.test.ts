import { describe, expect, it } from 'vitest';
import { formatAxisTime, formatTick, formatValue, rangeOfValues, spread, stack } from './data.ts';

it.each([
  [1500, 'ms', '1.5 s'],
  [undefined, 'ms', '–'],
  [null, 'count', '–'],
  [12345, 'count', '12,345'],
  [0.9999, 'share', '99.9%'],
  [0, 'count', '0'],
  [1.5, 'percent', '150%'],
  [0.012, 'percent', '1.2%'],
  [1536.4, 'bytes', '1.5 KiB'],
  [0, 'rate', '0 B/s'],
] as const)('%s of %s is written %s', (value, unit, text) => expect(formatValue(value, unit, 'en')).toBe(text));

it('formats ticks briefly', () => {
  expect(formatTick(0, 'ms', 'en')).toBe('0');
  expect(formatTick(120_000, 'ms', 'en')).toBe('2 m');
  expect(formatTick(25_000, 'count', 'en')).toBe('25K');
  expect(formatTick(0.5, 'share', 'en')).toBe('50%');
  expect(formatTick(4, 'percent', 'en')).toBe('400%');
  expect(formatTick(0, 'bytes', 'en')).toBe('0');
  expect(formatTick(2 ** 29, 'rate', 'en')).toBe('512 MiB/s');
});

describe('the position of values', () => {
  it('is the middle of their bucket', () => expect(spread([0, 3_600_000], true)).toEqual({ at: [1800, 5400], from: 0, to: 7200 }));
  it('follows shorter days', () => expect(spread([0, 82_800_000, 169_200_000], true).at).toEqual([41_400, 126_000, 212_400]));
  it('is the time itself without buckets', () => expect(spread([1000, 5000], false)).toEqual({ at: [1, 5], from: 1, to: 5 }));
  it('is defined for one value and for none', () => {
    expect(spread([0], true)).toEqual({ at: [1800], from: 0, to: 3600 });
    expect(spread([], false).to).toBeGreaterThan(spread([], false).from);
  });
});

it('stacks, with missing values as zero', () => {
  const series = [[1, null, 3], [10, 20, undefined]].map((values, i) => ({ id: String(i), name: '', tone: 'ok' as const, values }));
  expect(stack(series)).toEqual([[1, 0, 3], [11, 20, 3]]);
});

it('describes the range of known values', () => {
  expect(rangeOfValues({ values: [null, 3, 1, 2, undefined] })).toEqual({ min: 1, max: 3, last: 2 });
  expect(rangeOfValues({ values: [null] })).toBeUndefined();
});

it.each([
  [0, 3600, 'Jan 1'],
  [5 * 3600, 3600, '05:00'],
  [5 * 3600 + 7, 10, '05:00:07'],
  [86_400, 86_400, 'Jan 2'],
])('%s s in steps of %s s are written %s', (at, step, text) => expect(formatAxisTime(at, step, 'en', 'UTC')).toBe(text));
