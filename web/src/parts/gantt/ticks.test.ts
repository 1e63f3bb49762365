import { describe, expect, it } from 'vitest';
import { wallAt } from '../../lib/zone.ts';
import { hour, minute } from './span.ts';
import { stepFor, ticksOf } from './ticks.ts';

const clocks = (zone: string, from: string, to: string, width: number) =>
  ticksOf({ from: Date.parse(from), to: Date.parse(to) }, width, zone).map(({ at, kind }) => (kind === 'day' ? wallAt(zone, at).toISOString().slice(5, 10) : wallAt(zone, at).toISOString().slice(11, 16)));

it('leaves room for each label', () => {
  expect(stepFor({ from: 0, to: hour }, 720, 72)).toBe(10 * minute);
  expect(stepFor({ from: 0, to: 24 * hour }, 300, 72)).toBe(6 * hour);
});

describe('ticks are at round times of the zone', () => {
  it('also with an offset of partial hours', () =>
    expect(clocks('Asia/Kathmandu', '2026-06-01T00:00:00Z', '2026-06-01T06:00:00Z', 432)).toEqual(['06:00', '07:00', '08:00', '09:00', '10:00', '11:00']));
  it('with the date where a day begins', () =>
    expect(clocks('Asia/Shanghai', '2026-06-01T13:00:00Z', '2026-06-01T19:00:00Z', 432)).toEqual(['21:00', '22:00', '23:00', '06-02', '01:00', '02:00', '03:00']));
  it('without the skipped hour', () =>
    expect(clocks('Europe/Berlin', '2026-03-28T23:00:00Z', '2026-03-29T03:00:00Z', 288)).toEqual(['03-29', '01:00', '03:00', '04:00', '05:00']));
  it('with the repeated hour twice', () =>
    expect(clocks('Europe/Berlin', '2026-10-24T22:00:00Z', '2026-10-25T02:00:00Z', 288)).toEqual(['10-25', '01:00', '02:00', '02:00', '03:00']));
  it('once if ticks are further apart', () =>
    expect(clocks('Europe/Berlin', '2026-10-24T22:00:00Z', '2026-10-25T12:00:00Z', 504)).toEqual(['10-25', '02:00', '04:00', '06:00', '08:00', '10:00', '12:00']));
  it('on each day over a clock change', () =>
    expect(clocks('Europe/Berlin', '2026-03-27T22:00:00Z', '2026-03-30T22:00:00Z', 216)).toEqual(['03-28', '03-29', '03-30', '03-31']));
});
