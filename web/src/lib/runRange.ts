import type { RunSearch } from './searchParams.ts';

const hour = 3_600_000;

/** Relative ranges, in milliseconds from now. */
const stretches = { hour: -hour, day: -24 * hour, week: -7 * 24 * hour };

type Ranged = Pick<RunSearch, 'range' | 'from' | 'to'>;

/** Returns the ends of a range; a relative begin is in milliseconds from now. */
export function endsOfRange({ range, from, to }: Ranged): { from: number | string | undefined; to: string | undefined } {
  const custom = range === 'custom';
  return { from: custom ? from : range && stretches[range], to: custom ? to : undefined };
}

/** Returns the address of a range around a time. */
export function rangeAround(at: string, until: string | undefined, minutes: number): { range: 'custom'; from: string; to: string } {
  const margin = minutes * 60_000;
  return { range: 'custom', from: new Date(Date.parse(at) - margin).toISOString(), to: new Date(Date.parse(until ?? at) + margin).toISOString() };
}
