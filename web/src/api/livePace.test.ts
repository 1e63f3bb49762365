import { expect, it } from 'vitest';
import { Paces } from './livePace.ts';

const shown = new Map([['list', 'runs'], ['numbers', 'statistics']]);

it('refetches at once, then at most once a second, and once more after the last change', () => {
  const paces = new Paces();
  expect(paces.next(shown)).toBeUndefined();
  paces.concern('list', 1000);
  expect(paces.isDue('list', 'runs', 1000)).toBe(true);
  paces.asked('list', 1000);
  expect(paces.isDue('list', 'runs', 1900)).toBe(false);
  paces.concern('list', 1500);
  expect(paces.next(shown)).toBe(2000);
  expect(paces.isDue('list', 'runs', 2000)).toBe(true);
  paces.asked('list', 2000);
  expect(paces.next(shown)).toBe(4500);
  paces.asked('list', 4500);
  expect(paces.next(shown)).toBeUndefined();
});

it('refetches expensive and slow queries less often', () => {
  const paces = new Paces();
  for (const hash of ['list', 'numbers']) {
    paces.concern(hash, 0);
    paces.asked(hash, 0);
    paces.answered(hash, 400);
    paces.concern(hash, 100);
  }
  expect(paces.next(shown)).toBe(4000);
  paces.asked('list', 4000);
  expect(paces.isDue('numbers', 'statistics', 9900)).toBe(false);
  expect(paces.isDue('numbers', 'statistics', 10_000)).toBe(true);
});

it('does not delay a query for long after one slow answer', () => {
  const paces = new Paces();
  paces.concern('list', 0);
  paces.asked('list', 0);
  paces.answered('list', 8000);
  paces.concern('list', 8000);
  expect(paces.next(shown)).toBe(10_000);
});

it('drops queries that are no longer shown', () => {
  const paces = new Paces();
  paces.concern('gone', 0);
  expect(paces.next(shown)).toBeUndefined();
  expect(paces.isDue('gone', 'runs', 10_000)).toBe(false);
});
