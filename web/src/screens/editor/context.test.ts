import { expect, it } from 'vitest';
import { unnamedIn } from './context.ts';

it('finds the rows that hold something and have no name', () => {
  expect(unnamedIn({ env: { name: '', value: 'x' }, labels: { name: '', value: '' }, params: { default: '1' } })).toEqual(['env', 'params']);
  expect(unnamedIn({ env: undefined, params: {} })).toEqual([]);
});
