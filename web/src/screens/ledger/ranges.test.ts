import { expect, it } from 'vitest';
import { cleaned, rangeOf, ranges, stretchOf } from './ranges.ts';

it.each([
  [{}, 'all'],
  [{ range: 'week' }, 'week'],
  [{ range: 'toString' }, 'all'],
  [{ range: 'custom' }, 'custom'],
  [{ status: 'planned' as const }, 'nextDay'],
  [{ status: 'planned' as const, range: 'around' }, 'around'],
  [{ status: 'missed' as const }, 'all'],
])('%j is the range %s', (search, range) => expect(rangeOf(search)).toBe(range));

it('knows the stretch of a range', () => {
  expect(stretchOf({})).toEqual({});
  expect(stretchOf({ range: 'around' })).toEqual(ranges.around);
  expect(stretchOf({ range: 'custom', from: '2026-01-01T00:00:00Z' })).toEqual({ from: '2026-01-01T00:00:00Z', to: undefined });
});

it('keeps an address short', () => {
  expect(cleaned({ job: '', status: undefined, range: 'day', from: 'x', to: 'y' })).toEqual({ range: 'day' });
  expect(cleaned({ range: 'custom', from: 'x', to: '' })).toEqual({ range: 'custom', from: 'x' });
});
