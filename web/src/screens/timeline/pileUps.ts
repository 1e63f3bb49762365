import type { Forecast, PileUp } from '../../api/forecast.ts';
import type { Count } from '../../parts/gantt/density.ts';
import { minute } from '../../parts/gantt/span.ts';

// A minute is a peak with at least this many fires, and this multiple of the median, as for the server.
const leastFires = 10;
const times = 2;

/** Returns the number of fires per minute from which on they pile up: unusually many, and more than the workers have slots. */
export function pileUpFrom(minutes: readonly number[], slots: number): number {
  const sorted = [...minutes].sort((a, b) => a - b);
  return Math.max(slots + 1, leastFires, times * (sorted[Math.floor(sorted.length / 2)] ?? 0));
}

/** Returns when the fires of one second need more slots than the workers have, in Unix milliseconds: the starts of these minutes. */
export function crowdedMinutes({ start, peaks, slots = 0 }: Pick<Forecast, 'start' | 'peaks' | 'slots'>): Set<number> {
  const first = Date.parse(start);
  return new Set(slots === 0 ? [] : peaks.flatMap((need, i) => (need > slots ? [first + i * minute] : [])));
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

/** The server lists so many peaks at most. */
export const mostPileUps = 20;

/** The slots that the fires of a peak's fullest second need, if the workers have fewer. */
const crowd = ({ crowded, fullest }: PileUp) => (crowded ? fullest.slots : 0);

/** Groups recurring peaks: first those with too few slots, fullest second first, then by fires, then by time. */
export function gatherPiles(pileUps: readonly PileUp[]): Pile[] {
  const piles = new Map<string, Pile>();
  for (const pile of [...pileUps].sort((a, b) => Date.parse(a.at) - Date.parse(b.at))) {
    const key = JSON.stringify([pile.fires, pile.jobCount, pile.fullest.second, pile.fullest.slots, pile.jobs.map((job) => job.name)]);
    const known = piles.get(key);
    if (known) known.at.push(pile.at);
    else piles.set(key, { first: pile, at: [pile.at] });
  }
  return [...piles.values()].sort((a, b) => crowd(b.first) - crowd(a.first) || b.first.fires - a.first.fires || Date.parse(a.first.at) - Date.parse(b.first.at));
}
