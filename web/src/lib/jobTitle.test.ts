import { expect, it } from 'vitest';
import { titled } from './jobTitle.ts';

it('shows the title first, and the name alone without one', () => {
  expect(titled({ name: 'finance.payouts', title: 'Pay out sellers' })).toBe('Pay out sellers (finance.payouts)');
  expect(titled({ name: 'finance.payouts' })).toBe('finance.payouts');
  expect(titled({ name: 'finance.payouts', title: '' })).toBe('finance.payouts');
});
