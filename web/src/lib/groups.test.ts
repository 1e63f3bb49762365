import { expect, it } from 'vitest';
import { groupLine, inGroup, isGroup } from './groups.ts';

it.each([
  ['shop', true], ['shop/eu', true], ['shop/eu/paris-2', true], ['', false], ['*', false], ['/shop', false], ['shop/', false], ['shop//eu', false], ['shop/../x', false], ['Shop', false],
  [`shop/${'a'.repeat(124)}`, false],
])('%j may name a group: %s', (text, want) => expect(isGroup(text)).toBe(want));

it('groups are nested by name', () => {
  expect(groupLine('shop/eu/paris')).toEqual(['shop/eu/paris', 'shop/eu', 'shop']);
  expect(groupLine('')).toEqual([]);
  expect([inGroup('shop', 'shop'), inGroup('shop/eu', 'shop'), inGroup('shopping', 'shop'), inGroup('shop.eu', 'shop'), inGroup('shop', 'shop/eu'), inGroup('', ''), inGroup('shop', '')]).toEqual([true, true, false, false, false, false, false]);
});
