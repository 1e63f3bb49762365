import { expect, it } from 'vitest';
import { keysOf } from './lineKeys.ts';

const keys = (...texts: string[]) => [...keysOf(texts.map((text, i) => ({ line: i + 1, text }))).values()];

it('knows a line again where others were put before it', () => {
  const [, left] = keys('0 1 * * * a', '0 2 * * * b');
  expect(keys('# new', '0 1 * * * a', '0 2 * * * b')[2]).toBe(left);
});

it('tells lines of the same text apart', () => {
  expect(new Set(keys('0 1 * * * a', '0 1 * * * a')).size).toBe(2);
});
