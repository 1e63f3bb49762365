import { expect, it } from 'vitest';
import { itemValuesOf } from './items.ts';
import { stepsOf } from './steps.ts';

it('the items of a map have the values that another step reported', () => {
  const [, load, fixed] = stepsOf([{ name: 'list' }, { name: 'load', forEach: { list: 'steps.list.outputs.files' } }, { name: 'fixed', forEach: { items: ['x'] } }]);
  const nodes = [{ node: 'list', step: 'list', status: 'succeeded' as const, outputs: { files: 'a.csv\nb.csv' } }];
  expect(itemValuesOf(load, nodes)).toEqual(['a.csv', 'b.csv']);
  expect(itemValuesOf(load, [])).toBeUndefined();
  expect(itemValuesOf(fixed, nodes)).toBeUndefined();
});
