import { expect, it } from 'vitest';
import { hasLabel, labelsFor, termsOf, withLabel, withoutTerm } from './labelSelector.ts';

it.each([
  ['', []],
  [' team=data , tier!=slow,', ['team=data', 'tier!=slow']],
  ['zone in (a,b),!old', ['zone in (a,b)', '!old']],
])('the terms of %j', (selector, terms) => expect(termsOf(selector)).toEqual(terms));

it('a label is added, replaced and removed, and the others stay', () => {
  expect(withLabel('', 'team', 'data')).toBe('team=data');
  expect(withLabel('tier!=slow,team=data', 'team', 'web')).toBe('tier!=slow,team=web');
  expect(withLabel('team=data,zone in (a,b)', 'team', 'data')).toBe('zone in (a,b)');
  expect(withoutTerm('team=data,zone in (a,b)', 'zone in (a,b)')).toBe('team=data');
  expect(hasLabel('team=data', 'team', 'dat')).toBe(false);
  expect(hasLabel('x,team=data', 'team', 'data')).toBe(true);
});

it.each([
  ['gpu=true', { gpu: 'true' }],
  ['gpu==true,zone in (a, b),ssd', { gpu: 'true', zone: 'a', ssd: '' }],
  ['disk!=slow,!old,zone notin (c)', {}],
])('the labels for %s', (selector, labels) => expect(labelsFor(selector)).toEqual(labels));
