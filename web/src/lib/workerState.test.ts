import { expect, it } from 'vitest';
import { loadOf, workerState, type WorkerState } from './workerState.ts';

type Worker = Parameters<typeof workerState>[0];
const idle: Worker = { draining: false, running: 0 };

it.each<[Partial<Worker>, WorkerState]>([
  [{}, 'ready'],
  [{ running: 3 }, 'ready'],
  [{ draining: true, running: 2, settings: { drain: true } }, 'draining'],
  [{ draining: true, settings: { drain: true } }, 'drained'],
  [{ draining: true, running: 2 }, 'stopping'],
  [{ draining: true, trouble: 'its disk is full', settings: { drain: true } }, 'troubled'],
  [{ away: true, draining: true, settings: { drain: true } }, 'away'],
])('%j: %s', (worker, want) => expect(workerState({ ...idle, ...worker })).toBe(want));

it('counts the load of workers that are online', () => {
  const of = (used: number, away: boolean) => ({ used, slots: 8, away });
  expect(loadOf([of(3, false), of(2, true), of(1, false)])).toEqual({ alive: 2, slots: 16, used: 4 });
});
