import { expect, it, vi } from 'vitest';
import type { Job } from '../../api/types.ts';
import { stepEntries } from './steps.ts';

const steps = [
  { name: 'extract', title: 'Read the orders', command: 'pg_dump shop' },
  { name: 'load', args: ['/srv/load.sh', '--fast'] },
  { name: 'ready', wait: { job: 'import-stock' } },
  { name: 'publish', job: 'publish-report' },
] as Job['steps'];

it.each([
  ['load', ['load']], ['orders', ['extract']], ['pg_dump', ['extract']], ['--fast', ['load']], ['import', ['ready']], ['report', ['publish']], ['nothing', []], [' ', []],
])('%s', (query, want) => {
  expect(stepEntries(steps, query, () => {}).map(({ id }) => id)).toEqual(want.map((name) => `step ${name}`));
});

it('opens the step, and job names have none', () => {
  const open = vi.fn();
  stepEntries(steps, 'orders', open)[0]?.act?.();
  expect(open).toHaveBeenCalledWith('extract');
  expect(stepEntries(undefined, 'orders', open)).toEqual([]);
});
