import type { PileUp } from '../../api/forecast.ts';

// A minute stands out with so many fires, and so many times those of the minute in the middle; the server has the same rule.
const leastFires = 10;
const times = 2;

/** From so many fires in one minute on the plan piles up: they wait for a slot behind each other. */
export function pileUpFrom(minutes: readonly number[]): number {
  const sorted = [...minutes].sort((a, b) => a - b);
  return Math.max(leastFires, times * (sorted[Math.floor(sorted.length / 2)] ?? 0));
}

/** The same jobs that pile up several times. */
export interface Pile {
  first: PileUp;
  /** All of them, the first first. */
  at: string[];
}

/** Puts together what comes again; the largest first, then the first. */
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
