import { expect, it } from 'vitest';
import { allowed, between, none, toggled, toggledAll, withAll, type Picked } from './selection.ts';

const job = (name: string, group = ''): Picked => ({ name, group, paused: false, hidden: false });
const names = (selection: ReadonlyMap<string, Picked>) => [...selection.keys()].sort().join('');

it('a job is added and removed without changing the previous selection', () => {
  const one = toggled(none, job('a'));
  expect(names(one)).toBe('a');
  expect(names(toggled(one, job('b')))).toBe('ab');
  expect(names(toggled(one, job('a')))).toBe('');
  expect(names(one)).toBe('a');
});

it('a page is selected if any job was not, and unselected otherwise', () => {
  const page = ['a', 'b', 'c'].map((name) => job(name));
  const some = toggled(toggled(none, job('b')), job('z'));
  expect(names(toggledAll(some, page))).toBe('abcz');
  expect(names(toggledAll(toggledAll(some, page), page))).toBe('z');
});

it('a range extends the selection', () => expect(names(withAll(toggled(none, job('x')), [job('a'), job('x')]))).toBe('ax'));

it('jobs without permission are separate, both sorted by name', () => {
  const { yes, no } = allowed(withAll(none, [job('c', 'web'), job('b', 'data'), job('a', 'web')]), (group) => group === 'web');
  expect(yes.map((j) => j.name)).toEqual(['a', 'c']);
  expect(no.map((j) => j.name)).toEqual(['b']);
});

it('a range works in both directions, and is undefined if an end is gone', () => {
  const list = ['a', 'b', 'c', 'd'].map((name) => job(name));
  expect(between(list, 'b', 'd')?.map((one) => one.name).join('')).toBe('bcd');
  expect(between(list, 'd', 'b')?.map((one) => one.name).join('')).toBe('bcd');
  expect(between(list, 'c', 'c')?.map((one) => one.name).join('')).toBe('c');
  expect(between(list, 'b', 'x')).toBeUndefined();
});
