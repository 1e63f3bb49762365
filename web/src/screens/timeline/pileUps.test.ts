import { expect, it } from 'vitest';
import type { PileUp } from '../../api/forecast.ts';
import { crowdedMinutes, eachMinute, gatherPiles, pileUpFrom } from './pileUps.ts';

it.each([
  [[], 0, 10],
  [[0, 0, 0, 40], 4, 10],
  [[15, 15, 15, 40], 20, 30],
  [[0, 0, 0, 40], 40, 41],
])('among %j with %d slots a pile-up begins at %d', (minutes, slots, least) => expect(pileUpFrom(minutes, slots)).toBe(least));

it('includes minutes without fires', () => {
  const at = (n: number, fires: number) => ({ at: n * 60_000, fires });
  expect(eachMinute([at(3, 40), at(5, 41), at(9, 1)], 7 * 60_000)).toEqual([40, 0, 41, 0]);
  expect(eachMinute([at(9, 1)], 7 * 60_000)).toEqual([]);
  expect(pileUpFrom(eachMinute([3, 4, 5, 6].map((n) => at(n, 40)), 7 * 60_000), 0), 'what is always so does not stand out').toBe(80);
});

it('groups recurring peaks, largest first', () => {
  const pile = (at: string, fires: number, name: string) => ({ at, fires, jobCount: fires, fullest: { second: 0, fires: 1, slots: 1 }, jobs: [{ name, fires: 1 }], groups: [] }) as PileUp;
  const piles = gatherPiles([pile('2026-01-02T00:00:00Z', 40, 'a'), pile('2026-01-01T05:00:00Z', 12, 'a'), pile('2026-01-01T00:00:00Z', 40, 'a'), pile('2026-01-01T00:00:00Z', 40, 'b')]);
  expect(piles.map(({ first, at }) => `${first.jobs[0]?.name} ${first.fires} ${at.length} ${at[0]}`)).toEqual(['a 40 2 2026-01-01T00:00:00Z', 'b 40 1 2026-01-01T00:00:00Z', 'a 12 1 2026-01-01T05:00:00Z']);
});

it('marks each minute with more fires at one second than slots, though none of them stands out', () => {
  const peaks = [15, 12, 13];
  expect([...crowdedMinutes({ start: '2026-11-27T22:00:00Z', peaks, slots: 12 })].map((at) => new Date(at).toISOString().slice(11, 16))).toEqual(['22:00', '22:02']);
  expect(crowdedMinutes({ start: '2026-11-27T22:00:00Z', peaks, slots: 15 }).size).toBe(0);
  expect(crowdedMinutes({ start: '2026-11-27T22:00:00Z', peaks }).size, 'without workers').toBe(0);
});

it('lists peaks with too few slots before larger ones that are spread', () => {
  const pile = (fires: number, slots: number, crowded: boolean) => ({ at: '2026-01-01T00:00:00Z', fires, jobCount: 1, fullest: { second: 0, fires: slots, slots }, crowded, jobs: [], groups: [] }) as PileUp;
  expect(gatherPiles([pile(100, 2, false), pile(38, 15, true), pile(20, 19, true)]).map(({ first }) => first.fires)).toEqual([20, 38, 100]);
});
