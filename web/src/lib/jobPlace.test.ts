import { expect, it } from 'vitest';
import { fireOf, jobPlaceOf, nodeOf } from './jobPlace.ts';

it.each([
  ['nightly', { name: 'nightly', search: {} }],
  ['nightly:load', { name: 'nightly', search: { tab: 'graph', step: 'load' } }],
  ['nightly@backfill', { name: 'nightly', search: { tab: 'backfills' } }],
])('the job %s is shown at %j', (job, place) => expect(jobPlaceOf(job)).toEqual(place));

it('a node is a step, or one of its items', () => {
  expect(nodeOf('load')).toEqual({ step: 'load' });
  expect(nodeOf('load@00012')).toEqual({ step: 'load', item: 12 });
});

it('the fire of a run is its id without the attempt', () => expect(fireOf('uid.n123.4')).toBe('uid.n123'));
