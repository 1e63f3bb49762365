import { expect, it } from 'vitest';
import type { JobVersion } from '../../api/types.ts';
import { before, pairOf } from './pair.ts';

const list = (...versions: number[]): JobVersion[] => versions.map((version) => ({ version, at: '2026-11-22T10:00:00Z', verb: 'patch' }));

it.each([
  ['the newest and the one before it', list(30, 20, 10), undefined, undefined, 30, [20, 30]],
  ['one that was picked and the one before it', list(30, 20, 10), 20, undefined, 20, [10, 20]],
  ['the first one and the newest', list(30, 20, 10), 10, undefined, 10, [10, 30]],
  ['any two, the earlier one first', list(30, 20, 10), 10, 20, 10, [10, 20]],
  ['any two, the other way round', list(30, 20, 10), 30, 10, 30, [10, 30]],
  ['one that is not listed, and the newest', list(30, 20), 5, undefined, 5, [5, 30]],
  ['itself is not compared', list(30, 20), 30, 30, 30, [20, 30]],
  ['the only one with nothing', list(7), undefined, undefined, 7, undefined],
  // The list is ordered by time, which may differ from the order of versions.
  ['the one before it by number', list(20, 30, 10), 30, undefined, 30, [20, 30]],
])('compares %s', (_name, versions, picked, named, version, pair) => expect(pairOf(versions, picked, named)).toMatchObject({ version, pair }));

it('is undefined without versions', () => {
  expect(pairOf([])).toBeUndefined();
  expect(before(list(3), 3)).toBeUndefined();
});
