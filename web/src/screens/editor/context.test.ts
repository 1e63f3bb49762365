import { expect, it } from 'vitest';
import { unnamedIn } from './context.ts';

it('finds rows with content and without a name', () => {
  expect(unnamedIn({ env: { name: '', value: 'x' }, labels: { name: '', value: '' }, params: { default: '1' } })).toEqual(['env', 'params']);
  expect(unnamedIn({ env: undefined, params: {} })).toEqual([]);
});
