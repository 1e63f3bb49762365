import { expect, it } from 'vitest';
import { linesOf } from './lines.ts';

it('finds the line of a position', () => {
  const text = 'a\n\nbc\n';
  const lineOf = linesOf(text);
  for (let at = 0; at <= text.length; at++) expect(lineOf(at)).toBe(text.slice(0, at).split('\n').length);
});
