import { expect, it } from 'vitest';
import { keysOf } from './lineKeys.ts';

const keys = (...texts: string[]) => [...keysOf(texts.map((text, i) => ({ line: i + 1, text }))).values()];

it('keeps the key of a line when others are inserted before it', () => {
  const [, left] = keys('0 1 * * * a', '0 2 * * * b');
  expect(keys('# new', '0 1 * * * a', '0 2 * * * b')[2]).toBe(left);
});

it('distinguishes lines with equal text', () => {
  expect(new Set(keys('0 1 * * * a', '0 1 * * * a')).size).toBe(2);
});
