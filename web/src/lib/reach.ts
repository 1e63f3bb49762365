/** How far ahead to ask for so many fires, given how many there are each minute: the end of the minute that has the last of them. */
export function reach(buckets: readonly number[], start: number, step: number, count: number): { to: number; fires: number } | undefined {
  let fires = 0;
  let to: number | undefined;
  for (const [i, n] of buckets.entries()) {
    if (n === 0) continue;
    fires += n;
    to = start + (i + 1) * step;
    if (fires >= count) break;
  }
  return to === undefined ? undefined : { to, fires };
}
