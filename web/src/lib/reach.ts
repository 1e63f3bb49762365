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

const hour = 3_600_000;
const farthest = 400 * 24 * hour;

/** The first so many of what stands from a time on, the nearest last. It is listed by stretches and from their ends, so one that holds them all, and not far more, is looked for. */
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
