import type { PileUp } from '../../api/forecast.ts';
import type { Count } from '../../parts/gantt/density.ts';
import { minute } from '../../parts/gantt/span.ts';

// A minute is a peak with at least this many fires, and this multiple of the median, as for the server. It does not
// know the slots, which change with the workers.
const leastFires = 10;
const times = 2;

/** Returns the number of fires per minute from which on they pile up: unusually many, and more than the workers have slots. */
export function pileUpFrom(minutes: readonly number[], slots: number): number {
  const sorted = [...minutes].sort((a, b) => a - b);
  return Math.max(slots + 1, leastFires, times * (sorted[Math.floor(sorted.length / 2)] ?? 0));
}

/** Returns the counts of all minutes, including empty ones, from the first fire up to a time. */
export function eachMinute(counts: readonly Count[], until: number): number[] {
  const known = counts.filter(({ at }) => at < until);
  const first = Math.min(...known.map(({ at }) => at));
  const fires = new Array<number>(known.length === 0 ? 0 : Math.ceil((until - first) / minute)).fill(0);
  for (const count of known) fires[Math.floor((count.at - first) / minute)] = count.fires;
  return fires;
}

/** Peaks with the same jobs. */
export interface Pile {
  first: PileUp;
  /** Times of all of them, in order. */
  at: string[];
}

/** Groups recurring peaks; largest first, then earliest. */
export function gatherPiles(pileUps: readonly PileUp[]): Pile[] {
  const piles = new Map<string, Pile>();
  for (const pile of [...pileUps].sort((a, b) => Date.parse(a.at) - Date.parse(b.at))) {
    const key = JSON.stringify([pile.fires, pile.jobCount, pile.jobs.map((job) => job.name)]);
    const known = piles.get(key);
    if (known) known.at.push(pile.at);
    else piles.set(key, { first: pile, at: [pile.at] });
  }
  return [...piles.values()].sort((a, b) => b.first.fires - a.first.fires || Date.parse(a.first.at) - Date.parse(b.first.at));
}
