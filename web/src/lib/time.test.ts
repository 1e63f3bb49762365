import { describe, expect, it } from 'vitest';
import { formatDate, formatPeriod, formatTime, formatTimeInZone, formatTimeOfDay, inFull, onTwoClocks, relativeTime, rfc3339In, wallClock, weekday } from './time.ts';

const at = (iso: string) => Date.parse(iso);

it.each([
  ['2026-11-23T13:03:00Z', 'today 14:03', '今天 14:03'],
  ['2026-11-23T13:03:05Z', 'today 14:03:05', '今天 14:03:05'],
  ['2026-11-22T23:30:00Z', 'today 00:30', '今天 00:30'],
  ['2026-11-22T08:10:00Z', 'yesterday 09:10', '昨天 09:10'],
  ['2026-11-23T23:00:00Z', 'tomorrow 00:00', '明天 00:00'],
  ['2026-11-20T13:03:00Z', 'Fri, Nov 20, 14:03', '11月20日周五 14:03'],
  ['2025-11-20T13:03:00Z', 'Thu, Nov 20, 2025, 14:03', '2025年11月20日周四 14:03'],
  ['not a time', 'not a time', 'not a time'],
])('%s is written %s', (iso, en, zh) => {
  const now = at('2026-11-23T15:00:00Z');
  expect(formatTime(iso, 'en', 'Europe/Berlin', now)).toBe(en);
  expect(formatTime(iso, 'zh', 'Europe/Berlin', now)).toBe(zh);
});

it('writes dates', () => {
  expect(formatDate('2026-11-24', 'en', '2026-11-23')).toBe('tomorrow');
  expect(formatDate('2026-11-26', 'en', '2026-11-23')).toBe('Thu, Nov 26');
  expect(formatDate('2026-11-26', 'zh', '2026-11-23')).toBe('11月26日周四');
  expect(formatDate('2027-01-01', 'en', '2026-11-23')).toBe('Fri, Jan 1, 2027');
});

it('names the day of a stretch once', () => {
  const now = at('2026-11-23T15:00:00Z');
  expect(formatPeriod('2026-11-23T13:00:00Z', '2026-11-23T14:00:00Z', 'en', 'UTC', now)).toBe('today 13:00 – 14:00');
  expect(formatPeriod('2026-11-22T13:00:00Z', '2026-11-23T14:00:00Z', 'en', 'UTC', now)).toBe('yesterday 13:00 – today 14:00');
});

it('includes the zone, and tolerates one that the browser does not know', () => {
  expect(formatTimeInZone('2026-03-29T01:30:05Z', 'en', 'Europe/Berlin')).toContain('03:30:05');
  expect(formatTimeInZone('2026-03-29T01:30:05Z', 'en', 'Mars/Olympus')).toContain('2026');
});

it('writes a tooltip with the time in full, in the zone of the job, and the instant with its milliseconds', () => {
  const lines = inFull('2026-03-29T01:30:05.25Z', 'en', 'Asia/Tokyo').split('\n');
  expect(lines.at(-1)).toBe('2026-03-29T01:30:05.250Z');
  expect(lines.some((line) => line.includes('10:30:05'))).toBe(true);
  expect(inFull('soon', 'en')).toBe('soon');
});

it('writes the seconds of a column, even if they are zero', () => expect(formatTimeOfDay('2026-03-29T01:30:00Z', 'en', 'UTC', 'seconds')).toBe('01:30:00'));

describe('a fire on two clocks', () => {
  const evening = at('2026-11-27T22:05:00Z'); // Friday 23:05 in Berlin, Saturday 06:05 in Shanghai
  it('names weekday and date where its days differ', () => {
    expect(onTwoClocks('2026-11-29T02:30:00+08:00', 'en', 'Europe/Berlin', evening)).toEqual({ day: 'Sun, Nov 29', time: '02:30:00', offset: '+08:00', own: { day: 'Sat, Nov 28', time: '19:30:00', offset: '+01:00' } });
    expect(onTwoClocks('2026-11-29T02:30:00+08:00', 'zh', 'Europe/Berlin', evening)?.own?.day).toBe('11月28日周六');
  });
  it('names weekday and date where today is another day', () => expect(onTwoClocks('2026-11-28T14:30:00+08:00', 'en', 'Europe/Berlin', evening)).toMatchObject({ day: 'Sat, Nov 28', own: { day: undefined, time: '07:30:00' } }));
  it('names the day where both agree', () => {
    const noon = at('2026-11-27T11:00:00Z');
    expect(onTwoClocks('2026-11-28T14:30:00+08:00', 'en', 'Europe/Berlin', noon)).toMatchObject({ day: 'tomorrow', own: { day: undefined, time: '07:30:00' } });
    expect(onTwoClocks('2026-11-28T14:30:00+01:00', 'en', 'Europe/Berlin', noon)).toEqual({ day: 'tomorrow', time: '14:30:00', offset: '+01:00' });
  });
  it('has the year of another one', () => expect(onTwoClocks('2027-01-01T02:30:00+08:00', 'en', 'Europe/Berlin', evening)?.day).toBe('Fri, Jan 1, 2027'));
  it('tolerates a text that is no time', () => expect(onTwoClocks('soon', 'en', 'UTC', evening)).toBeUndefined());
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
