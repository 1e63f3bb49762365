import { expect, it } from 'vitest';
import type { Job } from '../../api/types.ts';
import { drawnRows, RowAges, tabStop } from './drawn.ts';

const list = (text: string) => {
  const names = text.split('');
  return (row: number) => (names[row] === undefined || names[row] === ' ' ? undefined : ({ name: names[row] } as Job));
};
const shown = (text: string, first = 0, end = text.length) => drawnRows({ first, end }, list(text)).map(({ row, job }) => `${row}${job?.name ?? ''}`);

it('shows loaded rows, and placeholders for others', () => expect(shown('abc de', 1, 6)).toEqual(['1b', '2c', '3', '4d', '5e']));
it('shows a job once if two pages contain it', () => expect(shown('abcadb')).toEqual(['0a', '1b', '2c', '3', '4d', '5']));

it.each([
  [2, 2],
  [0, 1],
  [4, 1],
])('is reached by Tab also after row %i went out of sight', (current, stop) => expect(tabStop(drawnRows({ first: 1, end: 6 }, list('abcd f')), current)).toBe(stop));

it('reports rows that showed another job a moment ago', () => {
  const ages = new RowAges();
  const draw = (text: string, now: number) => ages.draw(drawnRows({ first: 0, end: 3 }, list(text)), now);
  const moved = (now: number) => [0, 1, 2].filter((row) => ages.hasJustMoved(row, now));
  draw('ab ', 1000);
  expect(moved(1001)).toEqual([]);
  draw('bac', 2000);
  expect(moved(2001)).toEqual([0, 1]);
  draw('bac', 2500);
  expect(moved(2699)).toEqual([0, 1]);
  expect(moved(2700)).toEqual([]);
});
