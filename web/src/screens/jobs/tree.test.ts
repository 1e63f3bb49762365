import { expect, it } from 'vitest';
import { groupTree, isWithin, narrowTree, type GroupNode } from './tree.ts';

const draw = (nodes: readonly GroupNode[]): string => nodes.map((n) => `${n.label}:${n.jobs}${n.paused ? `/${n.paused}` : ''}${n.children.length ? `(${draw(n.children)})` : ''}`).join(' ');
const of = (groups: Record<string, number>) => Object.entries(groups).map(([name, jobs]) => ({ name, jobs, paused: name.endsWith('etl') ? 1 : 0 }));

it.each([
  ['nothing', {}, ''],
  ['no group', { '': 7 }, ''],
  ['flat', { web: 2, data: 1 }, 'data:1 web:2'],
  ['dots', { 'data.etl': 2, data: 1, 'data.etl.raw': 4 }, 'data:7/1(etl:6/1(raw:4))'],
  ['dots below a group without jobs of its own', { 'data.etl': 2, 'data.lake': 3 }, 'data:5/1(etl:2/1 lake:3)'],
  ['dashes below a group', { data: 1, 'data-lake': 3, 'data-lake-raw': 5 }, 'data:9(lake:8(raw:5))'],
  ['dashes without one', { 'night-shift': 1, 'night-batch': 2 }, 'night-batch:2 night-shift:1'],
  ['slashes', { 'shop/eu/paris': 2, 'shop/us': 1, 'shop/eu.etl': 3 }, 'shop:6/1(eu:5/1(etl:3/1 paris:2) us:1)'],
  ['both', { 'data.etl': 1, 'data-x': 2 }, 'data:3/1(x:2 etl:1/1)'],
  ['names that only begin alike', { data: 1, database: 2, data_x: 3 }, 'data:1 data_x:3 database:2'],
])('%s', (_, groups, drawn) => expect(draw(groupTree(of(groups as Record<string, number>)))).toBe(drawn));

it('is filtered to matches and their ancestors', () =>
  expect(draw(narrowTree(groupTree(of({ 'data.etl': 1, 'data.lake': 2, web: 3 })), 'lak'))).toBe('data:3/1(lake:2)'));

it('compares groups', () => {
  expect(['data', 'data/etl', 'data.etl', 'data-x', 'database', 'dat'].map((path) => isWithin(path, 'data'))).toEqual([true, true, true, true, false, false]);
});
