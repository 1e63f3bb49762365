import { expect, it } from 'vitest';
import { runOnForm, runOnValue } from './runOn.ts';

it.each([[undefined], ['all'], [3], [{ workers: 'all', concurrency: 2 }], [{ workers: 2, maxFailures: 1, stop: true }], ['some']])('%j stays as it is', (value) =>
  expect(runOnValue(runOnForm(value))).toEqual(value),
);

it('an object with the workers alone is written as these', () => expect(runOnValue(runOnForm({ workers: 'all', stop: false }))).toBe('all'));

it('a setting without workers is kept, so that its fault is shown', () => expect(runOnValue({ workers: '', concurrency: '2', maxFailures: '', stop: false })).toEqual({ concurrency: 2 }));
