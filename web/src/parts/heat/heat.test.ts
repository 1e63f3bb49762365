import { describe, expect, it } from 'vitest';
import { daysOf, rowsOfDay } from './rows.ts';
import { heatScale, levelOf, levels, rangesOf } from './scale.ts';

describe('the scale', () => {
  it.each([
    [0, [1]],
    [3, [1, 2, 3]],
    [6, [1, 2, 3, 4, 5, 6]],
    [59, [1, 2, 4, 8, 15, 30]],
    [10_000, [1, 5, 22, 100, 464, 2154]],
  ])('up to %d has shades from %j on', (top, bounds) => expect(heatScale(top)).toEqual(bounds));
  it('has no shade for zero, and the darkest for the maximum', () => {
    const scale = heatScale(59);
    expect([0, 1, 3, 59].map((n) => levelOf(n, scale))).toEqual([0, 1, 2, levels]);
    expect(levelOf(2, heatScale(2))).toBe(levels);
  });
  it('returns the range of each shade', () => expect(rangesOf(heatScale(59), 59).map(({ from, to }) => `${from}-${to}`)).toEqual(['1-1', '2-3', '4-7', '8-14', '15-29', '30-59']));
});

const from = (iso: string, hours: number) => ({ start: Date.parse(iso), counts: Array.from({ length: hours * 60 }, (_, i) => i) });

describe('the rows of a day', () => {
  const berlin = (iso: string) => rowsOfDay('Europe/Berlin', Date.parse(iso), from('2026-01-01T00:00:00Z', 24 * 365)).map((row) => row.clock + row.offset);
  it('omit the skipped hour', () => {
    const rows = berlin('2026-03-29T12:00:00Z');
    expect(rows).toHaveLength(23);
    expect(rows.slice(0, 4)).toEqual(['00:00', '01:00', '03:00', '04:00']);
  });
  it('contain the repeated hour twice, with its offsets', () => {
    const rows = berlin('2026-10-25T12:00:00Z');
    expect(rows).toHaveLength(25);
    expect(rows.slice(1, 5)).toEqual(['01:00', '02:00+02:00', '02:00+01:00', '03:00']);
  });
  it('contain known minutes, and omit past hours', () => {
    const rows = rowsOfDay('UTC', Date.parse('2026-06-01T00:00:00Z'), from('2026-06-01T21:30:00Z', 1));
    expect(rows.map((row) => row.clock)).toEqual(['21:00', '22:00']);
    expect([rows[0]?.cells[29], rows[0]?.cells[30], rows[1]?.cells[29], rows[1]?.cells[30]]).toEqual([undefined, 0, 59, undefined]);
  });
});

it('adds up days', () => {
  const minutes = { start: Date.parse('2026-06-01T21:00:00Z'), counts: Array.from({ length: 120 }, (_, i) => (i === 90 ? 40 : 1)) };
  expect(daysOf('Europe/Berlin', minutes)).toEqual([
    { date: '2026-06-01', at: Date.parse('2026-05-31T22:00:00Z'), fires: 60, peak: 1 },
    { date: '2026-06-02', at: Date.parse('2026-06-01T22:00:00Z'), fires: 99, peak: 40 },
  ]);
});
