/**
 * Returns how many milliseconds ahead a list must reach to contain this many of the given fires. Rounded up to a power
 * of two seconds, so that it rarely changes; undefined if no fire is ahead.
 */
export function horizon(fires: readonly string[], count: number, now: number): number | undefined {
  const ahead = fires.map((fire) => Date.parse(fire) - now).filter((ms) => ms > 0).sort((a, b) => a - b);
  const last = ahead[Math.min(count, ahead.length) - 1];
  return last === undefined ? undefined : 1000 * 2 ** Math.ceil(Math.log2(Math.max(1, (last + 1000) / 1000)));
}
