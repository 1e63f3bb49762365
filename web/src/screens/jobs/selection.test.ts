import { expect, it } from 'vitest';
import { allowed, between, none, toggled, toggledAll, withAll, type Picked } from './selection.ts';

const job = (name: string, group = ''): Picked => ({ name, group, paused: false, hidden: false });
const names = (selection: ReadonlyMap<string, Picked>) => [...selection.keys()].sort().join('');

it('one is put in and taken out, and what was before stays as it was', () => {
  const one = toggled(none, job('a'));
  expect(names(one)).toBe('a');
  expect(names(toggled(one, job('b')))).toBe('ab');
  expect(names(toggled(one, job('a')))).toBe('');
  expect(names(one)).toBe('a');
});

it('a page is put in where any of it was missing, and taken out where none was', () => {
  const page = ['a', 'b', 'c'].map((name) => job(name));
  const some = toggled(toggled(none, job('b')), job('z'));
  expect(names(toggledAll(some, page))).toBe('abcz');
  expect(names(toggledAll(toggledAll(some, page), page))).toBe('z');
});

it('a range adds to what is selected', () => expect(names(withAll(toggled(none, job('x')), [job('a'), job('x')]))).toBe('ax'));

it('what one may not touch stands apart, each in the order of names', () => {
  const { yes, no } = allowed(withAll(none, [job('c', 'web'), job('b', 'data'), job('a', 'web')]), (group) => group === 'web');
  expect(yes.map((j) => j.name)).toEqual(['a', 'c']);
  expect(no.map((j) => j.name)).toEqual(['b']);
});

it('a range goes from one to the other, either way round, and is none where one of them is gone', () => {
  const list = ['a', 'b', 'c', 'd'].map((name) => job(name));
  expect(between(list, 'b', 'd')?.map((one) => one.name).join('')).toBe('bcd');
  expect(between(list, 'd', 'b')?.map((one) => one.name).join('')).toBe('bcd');
  expect(between(list, 'c', 'c')?.map((one) => one.name).join('')).toBe('c');
  expect(between(list, 'b', 'x')).toBeUndefined();
});
