import { expect, it } from 'vitest';
import { formatSeconds, parseDuration, secondsBetween } from './duration.ts';

it.each<[string, number | undefined]>([
  ['90s', 90], ['1h30m', 5400], ['2d', 172800], ['1d12h', 129600], ['500ms', 0.5], ['1.5s', 1.5], ['0', 0],
  ['', undefined], ['10', undefined], ['5 m', undefined], ['-5s', undefined], ['1w', undefined], ['s', undefined],
])('reads %j', (text, want) => expect(parseDuration(text)).toBe(want));

it.each([
  [0, '0 ms'], [0.0123, '12 ms'], [0.9999, '1.0 s'], [3.44, '3.4 s'], [9.96, '10 s'], [59.4, '59 s'], [60, '1 m'], [125, '2 m 5 s'],
  [3600, '1 h'], [3780, '1 h 3 m'], [187200, '2 d 4 h'], [-2, '−2 s'], [3, '3 s'], [-2.5, '−2.5 s'], [Number.NaN, '–'],
])('writes %d', (seconds, want) => expect(formatSeconds(seconds, 'en')).toBe(want));

it.each([
  [0, '0 毫秒'], [0.0123, '12 毫秒'], [3.44, '3.4 秒'], [60, '1 分钟'], [428, '7 分 8 秒'], [3600, '1 小时'], [3780, '1 小时 3 分'], [187200, '2 天 4 小时'], [-2, '−2 秒'], [Number.NaN, '–'],
])('writes %d in Chinese', (seconds, want) => expect(formatSeconds(seconds, 'zh')).toBe(want));

it('measures between two times', () => {
  expect(secondsBetween('2026-01-01T00:00:00Z', '2026-01-01T01:00:01.5+01:00')).toBe(1.5);
  expect(secondsBetween(undefined, '2026-01-01T00:00:00Z')).toBeUndefined();
  expect(secondsBetween('nonsense', '2026-01-01T00:00:00Z')).toBeUndefined();
});
