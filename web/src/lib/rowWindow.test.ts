import { expect, it } from 'vitest';
import { pagesOf, windowOf } from './rowWindow.ts';

it.each([
  [0, 900, 1000, { first: 0, end: 28 }],
  [-300, 600, 1000, { first: 0, end: 20 }],
  [46_000, 46_900, 100_000, { first: 992, end: 1028 }],
  [46_000, 46_900, 1010, { first: 992, end: 1010 }],
  [0, 900, 0, { first: 0, end: 0 }],
  [9000, 9900, 20, { first: 20, end: 20 }],
])('from %d to %d of %d rows', (top, bottom, count, rows) => expect(windowOf(top, bottom, 46, count, 6)).toEqual(rows));

it('moves in steps', () => expect(windowOf(46_010, 46_910, 46, 100_000, 6)).toEqual(windowOf(46_040, 46_940, 46, 100_000, 6)));

it.each([
  [{ first: 0, end: 50 }, [0]],
  [{ first: 0, end: 51 }, [0, 1]],
  [{ first: 140, end: 160 }, [2, 3]],
  [{ first: 5, end: 5 }, []],
])('the pages of %j', (rows, pages) => expect(pagesOf(rows, 50)).toEqual(pages));
