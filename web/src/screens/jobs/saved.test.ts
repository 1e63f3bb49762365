import { expect, it } from 'vitest';
import { readSaved, savedAs, withSaved } from './saved.ts';

it.each([[null], ['x'], [{}], [[1, null, {}, { name: '' }, { name: 7 }]]])('%j contains no filters', (value) => expect(readSaved(value)).toEqual([]));

it('returns saved filters without invalid values', () => {
  const saved = readSaved(JSON.parse(JSON.stringify([{ name: 'Mine', filter: { q: 'x', state: 'paused', sort: 'colour' } }])));
  expect(saved).toHaveLength(1);
  expect(saved[0]?.filter).toMatchObject({ q: 'x', state: 'paused', sort: undefined });
  expect(savedAs(saved, { q: 'x', state: 'paused' })?.name).toBe('Mine');
  expect(savedAs(saved, { q: 'x' })).toBeUndefined();
});

it('names are unique', () => {
  const saved = withSaved(withSaved(withSaved([], { name: 'b', filter: { q: '1' } }), { name: 'a', filter: {} }), { name: 'b', filter: { q: '2' } });
  expect(saved.map(({ name, filter }) => name + (filter.q ?? ''))).toEqual(['a', 'b2']);
});
