import { expect, it } from 'vitest';
import { changesOf } from './changes.ts';

it('returns the fields that differ, except those that every change sets', () => {
  const before = { name: 'a', retry: { max: 1 }, args: ['x', 'y'], labels: { team: 'data' }, updatedAt: '1', updatedBy: 'ann' };
  const after = { name: 'a', retry: { max: 2, backoff: '5s' }, args: ['x'], labels: { team: 'data', tier: 'slow' }, updatedAt: '2', updatedBy: 'bob' };
  expect(changesOf(before, after)).toEqual([
    { path: 'args[1]', before: 'y', after: undefined },
    { path: 'labels.tier', before: undefined, after: 'slow' },
    { path: 'retry.backoff', before: undefined, after: '5s' },
    { path: 'retry.max', before: '1', after: '2' },
  ]);
});

it.each([
  ['what was made', undefined, { name: 'a', paused: false }, [{ path: 'name', before: undefined, after: 'a' }, { path: 'paused', before: undefined, after: 'false' }]],
  ['what was taken away', { name: 'a' }, undefined, [{ path: 'name', before: 'a', after: undefined }]],
  ['a word that became a list', { at: 'x' }, { at: ['x'] }, [{ path: 'at', before: 'x', after: undefined }, { path: 'at[0]', before: undefined, after: 'x' }]],
  ['what is empty', { env: {} }, { env: [] }, [{ path: 'env', before: '{}', after: '[]' }]],
  ['nothing', undefined, undefined, []],
])('of %s', (_what, before, after, want) => expect(changesOf(before, after)).toEqual(want));
