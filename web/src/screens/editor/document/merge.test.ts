import { expect, it } from 'vitest';
import { merge } from './merge.ts';

const base = { name: 'a', title: 'old', command: 'x', env: { A: '1', B: '2' }, retry: { max: 1 }, args: ['a'] };

it('accepts changes of the other side only', () => {
  const { take, collisions } = merge(base, { ...base, title: 'theirs', env: { A: '1', B: '3', C: '4' }, retry: undefined }, { ...base, command: 'mine', env: { A: '9', B: '2' } });
  expect(collisions).toEqual([]);
  expect(take).toEqual([{ path: ['title'], value: 'theirs' }, { path: ['env', 'B'], value: '3' }, { path: ['env', 'C'], value: '4' }, { path: ['retry', 'max'], value: undefined }]);
});

it('reports a conflict if both changed the same field', () => {
  const { take, collisions } = merge(base, { ...base, title: 'theirs', args: ['b'], env: { B: '2' } }, { ...base, title: 'mine', args: ['a', 'c'], env: { A: '5', B: '2' } });
  expect(take).toEqual([]);
  expect(collisions.map(({ location, base: was, theirs, mine }) => [location, was, theirs, mine])).toEqual([
    ['title', 'old', 'theirs', 'mine'], ['env.A', '1', undefined, '5'], ['args', ['a'], ['b'], ['a', 'c']],
  ]);
});

it('reports no conflict if both made the same change', () => expect(merge(base, { ...base, title: 'x' }, { ...base, title: 'x' })).toEqual({ take: [], collisions: [] }));

it('merges keys without a value', () => {
  expect(merge({ name: 'a', params: { A: {} } }, { name: 'a' }, { name: 'a', params: { A: {} } }).take).toEqual([{ path: ['params', 'A'], value: undefined }]);
});
