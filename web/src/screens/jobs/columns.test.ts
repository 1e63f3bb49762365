import { expect, it } from 'vitest';
import { columnIds, columnOf, columnsIn, templateOf } from './columns.ts';

it.each([
  [200, columnIds],
  [63, ['schedule', 'results', 'last', 'next', 'p95']],
  [45, ['schedule', 'results']],
  [42, ['results', 'next']],
  [10, []],
])('in %d rem there is room for %j', (room, shown) => expect(columnsIn(room, columnIds)).toEqual(shown));

it('hidden columns take no room', () => expect(columnsIn(55, ['labels', 'group', 'schedule'])).toEqual(['group', 'labels', 'schedule']));

it('the column of the order is shown first', () => {
  expect(columnOf('-success')).toBe('success');
  expect(columnOf('name')).toBeUndefined();
  expect(columnsIn(45, columnIds, 'success')).toEqual(['results', 'next', 'success']);
  expect(columnsIn(200, ['group'], 'updated')).toEqual(['group', 'updated']);
});

it('the grid has check box, name, shown columns, and actions', () => expect(templateOf(['next', 'p95'])).toBe('2.5rem minmax(0, 1fr) 6.75rem 6.5rem 5.25rem'));
