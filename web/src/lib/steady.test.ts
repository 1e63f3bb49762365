import { expect, it } from 'vitest';
import { steady, type SteadyRow } from './steady.ts';

const shown = (...ids: string[]): SteadyRow<string>[] => ids.map((row) => ({ row, gone: false }));
const id = (row: string) => row.slice(0, 1);

it('follows the list while it is not held', () => expect(steady(shown('a', 'b'), ['c', 'a'], id, false)).toEqual(shown('c', 'a')));
it('keeps each row in place with current content', () => {
  expect(steady(shown('a', 'b', 'c'), ['x', 'c2', 'a2'], id, true)).toEqual([{ row: 'a2', gone: false }, { row: 'b', gone: true }, { row: 'c2', gone: false }]);
});
it('restores rows that reappear', () => expect(steady([{ row: 'a', gone: true }], ['a'], id, true)).toEqual(shown('a')));
it('shows the first rows at once', () => expect(steady([], ['a'], id, true)).toEqual(shown('a')));
