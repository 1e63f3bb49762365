// @vitest-environment happy-dom
import { expect, it } from 'vitest';
import type { BulkItem } from '../../api/types.ts';
import { withAnswers } from './useBulk.ts';

const refused = (name: string): BulkItem => ({ name, result: 'refused', refusal: { code: 'not_found', detail: 'there is no such job' } });

it('a completed deletion stays completed if the repetition finds no job', () => {
  const before: BulkItem[] = [{ name: 'a', result: 'done' }, { name: 'b', result: 'unknown' }, { name: 'c', result: 'unknown' }, { name: 'd', result: 'done' }];
  expect(withAnswers(before, [refused('a'), { name: 'b', result: 'done' }, refused('c'), { name: 'd', result: 'unknown' }, { name: 'e', result: 'done' }])).toEqual([
    { name: 'a', result: 'done' }, { name: 'b', result: 'done' }, refused('c'), { name: 'd', result: 'done' }, { name: 'e', result: 'done' },
  ]);
});
