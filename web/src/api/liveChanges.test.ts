import { expect, it } from 'vitest';
import { keys } from './keys.ts';
import { Changes, type RunEvent } from './liveChanges.ts';

const run = (id: string, job = 'nightly', fire = `${job}-fire`): { kind: 'run'; data: RunEvent } => ({
  kind: 'run', data: { id, job, jobUid: 'u', fire, plannedAt: '2026-01-01T00:00:00Z', cause: 'cron', attempt: 1, status: 'running' },
});

it('distinguishes jobs, runs and fires', () => {
  const changes = new Changes();
  expect(changes.any).toBe(false);
  changes.add(run('r1'));
  expect(changes.any).toBe(true);
  const concerned = (key: readonly unknown[]) => changes.concern(key);
  expect([concerned(keys.run('r1')), concerned(keys.run('r2'))]).toEqual([true, false]);
  expect([concerned(keys.usage('r1', false)), concerned(keys.usage('r2', true))]).toEqual([true, false]);
  expect([concerned(keys.attempts('nightly-fire')), concerned(keys.attempts('other-fire'))]).toEqual([true, false]);
  expect([concerned(keys.job('nightly')), concerned(keys.job('hourly'))]).toEqual([true, false]);
  expect([concerned(keys.statistics('nightly', 'day', 'UTC')), concerned(keys.statistics('hourly', 'day', 'UTC'))]).toEqual([true, false]);
  expect([concerned(keys.runList({ job: 'nightly' }, '')), concerned(keys.runList({ job: 'hourly' }, '')), concerned(keys.runList({}, ''))]).toEqual([true, false, true]);
  expect([concerned(keys.fireList({}, '')), concerned(keys.overview), concerned(keys.workers)]).toEqual([true, true, false]);
});

it('does not refetch queries that runs of other jobs cannot affect', () => {
  const changes = new Changes();
  changes.add(run('r1'));
  expect([keys.neighbours('nightly', '2026-01-01T00:00:00Z'), keys.neighbours('hourly', '2026-01-01T00:00:00Z'), keys.jobNames('ni')].map((key) => changes.concern(key))).toEqual([true, false, false]);
  changes.add({ kind: 'job', data: { name: 'nightly', version: 3 } });
  expect(changes.concern(keys.jobNames('ni'))).toBe(true);
});

it('does not refetch queries without events', () => {
  const changes = new Changes();
  changes.add(run('r1'));
  changes.add({ kind: 'job', data: { name: 'nightly', version: 3 } });
  changes.add({ kind: 'worker', data: { id: 'w1' } });
  for (const key of [keys.session, keys.methods, keys.users, keys.audit, keys.preview({}, 'en'), keys.validation({})]) expect(changes.concern(key)).toBe(false);
  expect([changes.concern(keys.workers), changes.concern(keys.placement('nightly'))]).toEqual([true, true]);
});

it('refetches everything after missed events', () => {
  const changes = new Changes();
  changes.addAll();
  expect(changes.concern(keys.users)).toBe(true);
  // Except expensive queries, which run on request only.
  for (const key of [keys.search({ text: 'x' }), keys.dryRun({}), keys.jobVersion('nightly', 3), keys.versionDiff('nightly', [1, 2])]) expect(changes.concern(key)).toBe(false);
});

it('stops tracking single names once there are many', () => {
  const changes = new Changes();
  for (let i = 0; i < 201; i++) changes.add(run(`r${i}`));
  expect(changes.concern(keys.run('another'))).toBe(true);
  expect(changes.concern(keys.job('hourly'))).toBe(false);
});

it('refetches the nodes of the flow run whose steps change, and of no other', () => {
  const steps = [
    { kind: 'flowrun', data: { run: 'f1', job: 'etl', node: 'load', state: 'started' } },
    { kind: 'run', data: { ...run('n1', 'etl:load').data, flowRun: 'f1', node: 'load' } },
    run('f1', 'etl'),
  ] as const;
  for (const change of steps) {
    const changes = new Changes();
    changes.add(change);
    expect(changes.any).toBe(true);
    expect([changes.concern(keys.runNodes('f1')), changes.concern(keys.runNodes('f2')), changes.concern(keys.approvals(undefined))]).toEqual([true, false, true]);
  }
  const changes = new Changes();
  changes.add(steps[0]);
  expect([changes.concern(keys.grid('etl')), changes.concern(keys.grid('other')), changes.concern(keys.run('f1'))]).toEqual([true, false, false]);
});
