import { expect, it } from 'vitest';
import { allowed, between, extentOf, none, toggled, withAll, type Picked } from './selection.ts';

const job = (name: string, group = ''): Picked => ({ name, group, paused: false, hidden: false });
const names = (selection: ReadonlyMap<string, Picked>) => [...selection.keys()].sort().join('');

it('a job is added and removed without changing the previous selection', () => {
  const one = toggled(none, job('a'));
  expect(names(one)).toBe('a');
  expect(names(toggled(one, job('b')))).toBe('ab');
  expect(names(toggled(one, job('a')))).toBe('');
  expect(names(one)).toBe('a');
});

it('a list is selected as a whole, in part or not at all', () => {
  const all = withAll(none, ['a', 'b', 'c'].map((name) => job(name)));
  expect(extentOf(none, 3, 5000)).toBe('none');
  expect(extentOf(all, 3, 5000)).toBe('all');
  expect(extentOf(toggled(all, job('b')), 3, 5000)).toBe('some');
  expect(extentOf(all, 28, 5000)).toBe('some');
  expect(extentOf(all, 9000, 3)).toBe('all');
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
