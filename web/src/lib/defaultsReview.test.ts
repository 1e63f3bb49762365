import { expect, it } from 'vitest';
import type { DefaultsReview } from '../api/types.ts';
import { fieldsOf, reviewParts, valuesOf } from './defaultsReview.ts';

it('a review separates refused jobs, and counts fields once and the jobs beyond the list', () => {
  const review: DefaultsReview = {
    jobs: 300, changed: 202, refused: 1, firesGone: 3, firesNew: 5, items: [
      { name: 'bad', fields: ['retry'], faults: [{ location: 'body.retry', message: 'no', code: 'invalid' }] }, { name: 'a', fields: ['retry', 'timezone'] }, { name: 'b', fields: ['timezone'] }, { name: 'c', fields: [] },
    ],
  };
  const { refused, changed, fields, unlisted } = reviewParts(review);
  expect([refused.map(({ name }) => name), changed.map(({ name }) => name), fields, unlisted]).toEqual([['bad'], ['a', 'b', 'c'], 2, 199]);
});

it('the values of defaults have nothing that the server adds', () => {
  const stored = { group: 'shop', version: 7, updatedAt: '2026-01-01T00:00:00Z', updatedBy: 'ann', retry: {}, timezone: 'UTC' };
  expect(valuesOf(stored)).toEqual({ timezone: 'UTC', retry: {} });
  expect(fieldsOf(stored)).toEqual(['timezone', 'retry']);
  expect(valuesOf({ group: '*' })).toEqual({});
});
