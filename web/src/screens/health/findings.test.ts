import { expect, it } from 'vitest';
import type { Finding } from '../../api/types.ts';
import { bySeverity } from './findings.ts';

it('the worst findings come first, in the server’s order', () => {
  const found = (check: string, status: Finding['status']): Finding => ({ check, status, text: '' });
  const groups = bySeverity([found('a', 'ok'), found('b', 'failing'), found('c', 'warning'), found('d', 'failing')]);
  expect(groups.map(({ status, findings }) => [status, findings.map(({ check }) => check).join('')])).toEqual([['failing', 'bd'], ['warning', 'c'], ['ok', 'a']]);
  expect(bySeverity([])).toEqual([]);
});
