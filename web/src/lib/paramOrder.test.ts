import { expect, it } from 'vitest';
import { inDeclaredOrder } from './paramOrder.ts';

it('has the order of the declaration, and then that of the rest', () => {
  expect(inDeclaredOrder({ AFTER: '1', BATCH: '2', OLD: '3', TARGET: '4' }, { TARGET: {}, BATCH: {}, AFTER: {} })).toEqual([['TARGET', '4'], ['BATCH', '2'], ['AFTER', '1'], ['OLD', '3']]);
  expect(inDeclaredOrder({ B: '1', A: '2' }, undefined)).toEqual([['B', '1'], ['A', '2']]);
});
