import type { JobVersion } from '../../api/types.ts';

/** Two versions to compare, the earlier one first. */
export type Pair = readonly [from: number, to: number];

/** Returns the newest listed version before this one. */
export function before(versions: readonly JobVersion[], version: number): number | undefined {
  const earlier = versions.map((v) => v.version).filter((v) => v < version);
  return earlier.length > 0 ? Math.max(...earlier) : undefined;
}

/**
 * Returns the versions to compare: the selected one, by default the newest, with the named one, else with its
 * predecessor, else with the newest.
 */
export function pairOf(versions: readonly JobVersion[], picked?: number, named?: number): { version: number; other: number | undefined; pair: Pair | undefined } | undefined {
  if (versions.length === 0 && picked === undefined) return undefined;
  const newest = Math.max(...versions.map((v) => v.version));
  const version = picked ?? newest;
  const other = named !== undefined && named !== version ? named : (before(versions, version) ?? (newest > version ? newest : undefined));
  return { version, other, pair: other === undefined ? undefined : [Math.min(version, other), Math.max(version, other)] };
}
