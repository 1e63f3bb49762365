import { expect, it, vi } from 'vitest';
import { Connectivity } from './connectivity.ts';

it('notifies listeners of changes only', () => {
  const connectivity = new Connectivity();
  const listener = vi.fn();
  const stop = connectivity.subscribe(listener);
  connectivity.report(false);
  expect(listener).not.toHaveBeenCalled();
  connectivity.report(true);
  connectivity.report(true);
  expect(listener).toHaveBeenCalledTimes(1);
  expect(connectivity.isAway()).toBe(true);
  stop();
  connectivity.report(false);
  expect(listener).toHaveBeenCalledTimes(1);
});
