import { expect, it } from 'vitest';
import { nearest, reach } from './reach.ts';

it.each([
  [[0, 2, 0, 4], 3, { to: 240, fires: 6 }],
  [[0, 2, 0, 4], 2, { to: 120, fires: 2 }],
  [[1], 5, { to: 60, fires: 1 }],
  [[0, 0], 5, undefined],
])('%j fires a minute: %s of them are there by %j', (buckets, count, wanted) => expect(reach(buckets, 0, 60, count)).toEqual(wanted));

const day = 86_400_000;
it.each([
  ['each second', 1000, 5],
  ['each minute', 60_000, 5],
  ['each day', day, 5],
  ['each month', 30 * day, 5],
  ['each year', 365 * day, 2],
  ['once', Infinity, 1],
])('finds the nearest of what comes %s', async (_, every, found) => {
  const from = 7;
  let asked = 0;
  const nextOnes = await nearest((begin, end) => {
    asked++;
    const items: number[] = [];
    for (let at = from; at < end; at += every) if (at >= begin) items.unshift(at);
    return Promise.resolve({ items: items.slice(0, 500), nextCursor: items.length > 500 ? 'more' : undefined });
  }, from, 5);
  expect(nextOnes).toEqual(Array.from({ length: found }, (_, i) => from + (i === 0 ? 0 : i * every)).reverse());
  expect(asked).toBeLessThan(6);
});
