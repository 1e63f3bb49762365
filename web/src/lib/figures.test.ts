import { expect, it } from 'vitest';
import type { StatusCounts } from '../api/types.ts';
import { byTone, formatRate, roundUp, totalOf } from './figures.ts';

const counts: StatusCounts = { succeeded: 5, failed: 1, timed_out: 1, killed: 2, lost: 1, skipped: 4, refused: 0, missed: 3 };

it('sums by tone', () => {
  expect(byTone(counts)).toEqual([{ tone: 'ok', count: 5 }, { tone: 'bad', count: 3 }, { tone: 'warn', count: 5 }, { tone: 'idle', count: 4 }]);
  expect(totalOf(counts)).toBe(17);
});

it.each([[1, '100%'], [0.99999, '99.9%'], [0.5, '50%'], [0, '0%'], [undefined, '–']])('writes a share of %s as %s', (rate, text) => expect(formatRate(rate, 'en')).toBe(text));

it.each([[0, 1], [1, 1], [3, 5], [51, 100], [0.3, 0.5], [1000, 1000]])('rounds %s up to %s', (value, top) => expect(roundUp(value)).toBeCloseTo(top));
