import { describe, expect, it } from 'vitest';
import { nextDay, offsetAt, startOfDay, wallAt } from './zone.ts';

const hour = 3_600_000;
const iso = (at: number) => new Date(at).toISOString();

it.each([
  ['Europe/Berlin', '2026-03-29T00:59:59Z', 1],
  ['Europe/Berlin', '2026-03-29T01:00:00Z', 2],
  ['America/New_York', '2026-11-01T05:59:00Z', -4],
  ['America/New_York', '2026-11-01T06:00:00Z', -5],
  ['Asia/Kathmandu', '2026-06-01T00:00:00Z', 5.75],
])('%s at %s is %d hours ahead of UTC', (zone, at, hours) => expect(offsetAt(zone, Date.parse(at))).toBe(hours * hour));

it('returns the wall clock', () => expect(wallAt('Asia/Shanghai', Date.parse('2026-01-01T20:30:00Z')).toISOString()).toBe('2026-01-02T04:30:00.000Z'));

describe('a day', () => {
  it.each([
    ['Europe/Berlin', '2026-03-29T10:00:00Z', '2026-03-28T23:00:00.000Z', 23],
    ['Europe/Berlin', '2026-10-25T10:00:00Z', '2026-10-24T22:00:00.000Z', 25],
    ['Asia/Shanghai', '2026-10-25T10:00:00Z', '2026-10-24T16:00:00.000Z', 24],
    // There the clock goes from midnight to one in the morning.
    ['America/Santiago', '2026-09-06T12:00:00Z', '2026-09-06T04:00:00.000Z', 23],
    ['Australia/Lord_Howe', '2026-10-04T00:00:00Z', '2026-10-03T13:30:00.000Z', 23.5],
  ])('in %s that holds %s begins at %s and has %d hours', (zone, at, start, hours) => {
    expect(iso(startOfDay(zone, Date.parse(at)))).toBe(start);
    expect((nextDay(zone, Date.parse(at)) - startOfDay(zone, Date.parse(at))) / hour).toBe(hours);
  });
});
