import { expect, it } from 'vitest';
import { definitionOf, freshId, named, readLocal, savedAs, savedOf } from './saved.ts';

it.each([[null], ['x'], [{}], [[1, null, {}, { name: ' ' }, { name: 7 }]]])('%j contains no filters', (value) => expect(readLocal(value)).toEqual([]));

it('reads filters of earlier versions without invalid values', () => {
  const [one, ...more] = readLocal(JSON.parse(JSON.stringify([{ name: 'Mine', filter: { q: 'x', state: 'paused', sort: 'colour' } }])));
  expect(more).toEqual([]);
  expect(one).toMatchObject({ name: 'Mine', filter: { q: 'x', state: 'paused', sort: undefined } });
});

it('a filter is saved as the query of its address, and read again', () => {
  const filter = { q: 'a&b', group: '2.10', is: 'failing', sort: '-lastRun' } as const;
  const { query } = definitionOf('Mine', filter, false);
  expect(query).toBe('q=a%26b&group=2.10&is=failing&sort=-lastRun');
  const saved = savedOf([{ id: '1', name: 'Mine', query, shared: false }, { id: '2', name: 'Mine', query: 'state=none&x=%', shared: true }]);
  expect(savedAs(saved, filter)?.id).toBe('1');
  expect(savedAs(saved, { q: 'a' })).toBeUndefined();
  expect(savedAs(saved, {})?.id).toBe('2');
  expect([named(saved, 'Mine', true)?.id, named(saved, 'Mine', false)?.id, named(saved, 'Yours', true)]).toEqual(['2', '1', undefined]);
});

it('ids are accepted by the server', () => expect(freshId()).toMatch(/^[a-z0-9]{16}$/));
