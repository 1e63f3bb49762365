// @vitest-environment happy-dom
import { expect, it } from 'vitest';
import { chosenFires } from '../../api/fires.ts';
import { cleaned, rangeOf, ranges, statusesOf, stretchOf, summaryOf } from './ranges.ts';

it.each([
  [{}, 'all'],
  [{ range: 'week' }, 'week'],
  [{ range: 'toString' }, 'all'],
  [{ range: 'custom' }, 'custom'],
  [{ status: 'planned' as const }, 'nextDay'],
  [{ status: 'planned' as const, range: 'around' }, 'around'],
  [{ status: 'missed' as const }, 'all'],
])('%j is the range %s', (search, range) => expect(rangeOf(search)).toBe(range));

it('resolves ranges', () => {
  expect(stretchOf({})).toEqual({});
  expect(stretchOf({ range: 'around' })).toEqual(ranges.around);
  expect(stretchOf({ range: 'custom', from: '2026-01-01T00:00:00Z' })).toEqual({ from: '2026-01-01T00:00:00Z', to: undefined });
});

it('keeps an address short', () => {
  expect(cleaned({ job: '', status: undefined, range: 'day', from: 'x', to: 'y' })).toEqual({ range: 'day' });
  expect(cleaned({ range: 'custom', from: 'x', to: '' })).toEqual({ range: 'custom', from: 'x' });
});

it('parses several statuses in order, and ignores others', () => {
  expect(statusesOf({ status: 'missed,failed,nonsense' })).toEqual(['failed', 'missed']);
  expect(statusesOf({})).toEqual([]);
});

it.each([
  ['', undefined, undefined],
  ['waiting', ['waiting'], 'exclude'],
  ['paused', ['waiting'], 'only'],
  ['waiting,paused', ['waiting'], undefined],
  ['failed,waiting', ['waiting', 'failed'], 'exclude'],
  ['failed', ['failed'], undefined],
])('%j selects waiting fires and those of paused jobs apart', (status, statuses, paused) => expect(chosenFires(statusesOf({ status }))).toEqual({ status: statuses, paused }));

it.each([
  [{}, true],
  [{ range: 'week' }, true],
  [{ range: 'hour' }, false],
  [{ range: 'nextDay' }, false],
  [{ status: 'planned' }, false],
  [{ range: 'custom', from: '2026-01-01T00:00:00Z', to: '2026-01-02T00:00:00Z' }, true],
  [{ range: 'custom', from: '2026-01-01T00:00:00Z', to: '2026-01-01T01:00:00Z' }, false],
  [{ range: 'custom', from: '2026-02-01T11:30:00Z' }, false],
  [{ range: 'custom', from: '2026-03-01T00:00:00Z', to: '2026-03-05T00:00:00Z' }, false],
])('%j is summed up: %s', (search, summed) => expect(summaryOf(search, Date.parse('2026-02-01T12:00:00Z')) !== undefined).toBe(summed));
