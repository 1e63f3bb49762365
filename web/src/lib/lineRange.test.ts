import { expect, it } from 'vitest';
import { readLines, writeLines } from './lineRange.ts';

it.each([['#L5', 'L5'], ['L5-L9', 'L5-L9'], ['#L9-5', 'L5-L9'], ['#B4096', 'B4096']])('%s', (hash, want) => {
  const range = readLines(hash);
  expect(range && writeLines(range)).toBe(want);
});

it.each(['', '#', '#L', '#L0', '#Lx', '#L1-', '#B', '#login=x', '#L99999999999'])('%s names no lines', (hash) => expect(readLines(hash)).toBeUndefined());
