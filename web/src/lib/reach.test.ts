import { expect, it } from 'vitest';
import { reach } from './reach.ts';

it.each([
  [[0, 2, 0, 4], 3, { to: 240, fires: 6 }],
  [[0, 2, 0, 4], 2, { to: 120, fires: 2 }],
  [[1], 5, { to: 60, fires: 1 }],
  [[0, 0], 5, undefined],
])('%j fires a minute: %s of them are there by %j', (buckets, count, wanted) => expect(reach(buckets, 0, 60, count)).toEqual(wanted));
