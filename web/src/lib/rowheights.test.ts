import { expect, it } from 'vitest';
import { RowHeights } from './rowheights.ts';

function rows(...heights: number[]): RowHeights {
  const all = new RowHeights();
  for (const height of heights) all.push(height);
  return all;
}

it('returns the position of each row, and the row at each position', () => {
  const all = rows(20, 40, 20);
  expect([0, 1, 2, 3].map((row) => all.top(row))).toEqual([0, 20, 60, 80]);
  expect([0, 19, 20, 59, 60, 79, 80, 1000].map((place) => all.at(place))).toEqual([0, 0, 1, 1, 2, 2, 2, 2]);
  expect(rows().at(5)).toBe(0);
});

it('uses measured heights', () => {
  const all = rows(...Array.from({ length: 2000 }, () => 20));
  expect(all.at(30_000)).toBe(1500);
  expect(all.set(300, 100)).toBe(80);
  expect(all.set(300, 100)).toBe(0);
  expect(all.total).toBe(40_080);
  expect(all.top(301)).toBe(301 * 20 + 80);
  expect(all.at(30_080)).toBe(1500);
});

it('removes the last rows, and adds others', () => {
  const all = rows(...Array.from({ length: 600 }, () => 20));
  all.top(599);
  all.cut(511);
  for (let i = 0; i < 100; i++) all.push(40);
  expect(all.total).toBe(511 * 20 + 4000);
  expect(all.top(611)).toBe(all.total);
  expect(all.at(511 * 20 + 39)).toBe(511);
  expect(all.at(511 * 20 + 41)).toBe(512);
});
