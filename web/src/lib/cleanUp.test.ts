import { expect, it } from 'vitest';
import { hasOpenCleanUp } from './cleanUp.ts';

it('a clean-up is open until all of its steps have ended', () => {
  const steps = [{ name: 'work' }, { name: 'remove', finally: true }, { name: 'tidy', finally: true }];
  expect(hasOpenCleanUp(steps, [])).toBe(true);
  expect(hasOpenCleanUp(steps, [{ node: 'work', status: 'killed' }, { node: 'remove', status: 'succeeded' }, { node: 'tidy', status: 'running' }])).toBe(true);
  expect(hasOpenCleanUp(steps, [{ node: 'work', status: 'running' }, { node: 'remove', status: 'failed' }, { node: 'tidy', status: 'skipped' }])).toBe(false);
  expect(hasOpenCleanUp([{ name: 'work' }], [{ node: 'work', status: 'running' }])).toBe(false);
});
