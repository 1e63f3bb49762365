/**
 * Returns how far ahead to ask for this many fires, given the counts by minute: the end of the minute that contains the
 * last one.
 */
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

const hour = 3_600_000;
const farthest = 400 * 24 * hour;

/**
 * Returns the first entries from a time on, the nearest last. The API lists ranges from their end, so a range with all
 * of them, and not many more, is searched for.
 */
export async function nearest<Item>(list: (from: number, to: number) => Promise<{ items: readonly Item[]; nextCursor?: string | undefined }>, from: number, count: number): Promise<readonly Item[]> {
  let length = hour;
  for (let tries = 0; tries < 8; tries++) {
    const { items, nextCursor } = await list(from, from + length);
    if (nextCursor !== undefined) length /= 16;
    else if (items.length >= count || length > farthest) return items.slice(-count);
    else length *= 24;
  }
  return [];
}
