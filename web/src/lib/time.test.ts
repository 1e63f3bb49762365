import { expect, it } from 'vitest';
import { formatTime, formatTimeInZone, relativeTime, rfc3339In, wallClock, weekday } from './time.ts';

it('formats in a zone', () => {
  expect(formatTime('2026-03-29T01:30:05Z', 'en', 'Europe/Berlin')).toBe('Mar 29, 2026, 03:30:05');
  expect(formatTime('2026-03-29T01:30:05Z', 'zh', 'Asia/Shanghai')).toBe('2026年3月29日 09:30:05');
  expect(formatTime('not a time', 'en')).toBe('not a time');
});

it('includes the zone, and tolerates one that the browser does not know', () => {
  expect(formatTimeInZone('2026-03-29T01:30:05Z', 'en', 'Europe/Berlin')).toContain('03:30:05');
  expect(formatTimeInZone('2026-03-29T01:30:05Z', 'en', 'Mars/Olympus')).toContain('2026');
});

it('reads the wall clock of the text itself', () => {
  expect(wallClock('2026-03-29T02:30:00.123+01:00')).toEqual({ date: '2026-03-29', time: '02:30:00', offset: '+01:00' });
  expect(wallClock('2026-03-29T02:30:00Z')?.offset).toBe('+00:00');
  expect(wallClock('29.3.2026')).toBeUndefined();
  expect(weekday('2026-03-29', 'en')).toBe('Sun');
  expect(weekday('2026-03-29', 'zh')).toBe('周日');
});

it('formats a time in a zone', () => {
  expect(rfc3339In('2026-03-29T01:30:05Z', 'Europe/Berlin')).toBe('2026-03-29T03:30:05+02:00');
  expect(rfc3339In('2026-03-28T18:30:00.5Z', 'Asia/Shanghai')).toBe('2026-03-29T02:30:00+08:00');
  expect(rfc3339In('2026-03-29T00:00:00Z', 'UTC')).toBe('2026-03-29T00:00:00+00:00');
  expect(rfc3339In('2026-03-29T00:00:00Z', 'Mars/Olympus')).toBe('2026-03-29T00:00:00Z');
});

it.each([
  ['2026-01-01T00:00:30Z', 'in 30 seconds'],
  ['2026-01-01T00:05:30Z', 'in 5 minutes'],
  ['2025-12-31T21:00:00Z', '3 hours ago'],
  ['2025-12-31T00:00:00Z', 'yesterday'],
  ['2026-01-01T00:00:00Z', 'now'],
])('%s is %s', (iso, want) => expect(relativeTime(iso, Date.parse('2026-01-01T00:00:00Z'), 'en')).toBe(want));

it.each([
  ['2026-01-01T00:00:30Z', '30 秒后'],
  ['2026-01-01T00:05:30Z', '5 分钟后'],
  ['2025-12-31T21:00:00Z', '3 小时前'],
  ['2026-01-09T00:00:00Z', '8 天后'],
  ['2026-01-01T00:00:00Z', '现在'],
])('%s is %s in Chinese', (iso, want) => expect(relativeTime(iso, Date.parse('2026-01-01T00:00:00Z'), 'zh')).toBe(want));
