import { expect, it } from 'vitest';
import { effectiveParams } from './params.ts';

it('shows given values and the defaults of the others', () => {
  expect(effectiveParams({ DAY: { default: 'today' }, MODE: {} }, { MODE: '', OLD: 'x' })).toEqual([
    { name: 'DAY', value: 'today', isDefault: true }, { name: 'MODE', value: '', isDefault: false }, { name: 'OLD', value: 'x', isDefault: false },
  ]);
  expect(effectiveParams(undefined, undefined)).toEqual([]);
});
