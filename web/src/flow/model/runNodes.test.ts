import { expect, it } from 'vitest';
import { attemptsOf, statesOf, workersOf } from './runNodes.ts';

it('the nodes of a run become states of steps, with the statuses of their items', () => {
  const states = statesOf([
    { node: 'a', step: 'a', status: 'succeeded', attempt: 2, startedAt: '2026-01-01T00:00:00Z', kept: true },
    { node: 'm', step: 'm', status: 'running' }, { node: 'm@00000', step: 'm', item: 0, status: 'failed' }, { node: 'm@00001', step: 'm', item: 1, status: 'pending' },
    { node: 'z', step: 'z', status: 'pending', reason: { code: 'waits_for_steps', text: 'it waits for m' } },
  ], ({ text }) => text.toUpperCase());
  expect([...states.keys()]).toEqual(['a', 'm', 'z']);
  expect(states.get('a')).toMatchObject({ status: 'succeeded', attempt: 2, kept: true, startedAt: '2026-01-01T00:00:00Z' });
  expect(states.get('m')?.items).toEqual(['failed', 'pending']);
  expect(states.get('z')).toMatchObject({ reason: 'IT WAITS FOR M', code: 'waits_for_steps' });
});

it('attempts are numbered from the first one', () => {
  expect(attemptsOf({ node: 'a', step: 'a', status: 'running', run: 'x.3', attempt: 3, attempts: ['x.1', 'x.2', 'x.3'] })).toEqual([{ attempt: 1, run: 'x.1' }, { attempt: 2, run: 'x.2' }, { attempt: 3, run: 'x.3' }]);
  expect(attemptsOf({ node: 'a', step: 'a', status: 'pending' })).toEqual([]);
});

it('the nodes of a run on several workers become states of these, with the runs that they have claimed', () => {
  const { states, runs } = workersOf([
    { node: 'worker@00000', step: 'worker', item: 0, status: 'succeeded', worker: 'east', run: 'u.n1.1', attempt: 1 },
    { node: 'worker@00001', step: 'worker', item: 1, status: 'missed', worker: 'east', run: 'u.n2.0', attempt: 0, reason: { code: 'no_slot', text: 'no slot' } },
    { node: 'worker@00002', step: 'worker', item: 2, status: 'missed' },
  ], ({ text }) => text.toUpperCase());
  expect([...states.keys()]).toEqual(['east', 'east #1', '#2']);
  expect(states.get('east #1')).toMatchObject({ status: 'missed', reason: 'NO SLOT', code: 'no_slot' });
  expect([...runs]).toEqual([['east', 'u.n1.1']]);
});
