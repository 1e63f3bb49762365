import { expect, it } from 'vitest';
import type { RunEvent } from './liveChanges.ts';
import type { Run } from './types.ts';
import { mostSeen, SeenRuns } from './seenRuns.ts';

const run = (id: string, status = 'running') => ({ id, status }) as unknown as Run;
const event = (id: string, status: string, endedAt?: string) => ({ id, status, ...(endedAt && { endedAt }) }) as unknown as RunEvent;
const ids = (runs: Run[]) => runs.map(({ id }) => id);

it('keeps a run that has left the newest ones until the complete list contains it', () => {
  const seen = new SeenRuns();
  seen.saw([run('a')], 1000);
  seen.saw([run('b')], 3000);
  expect(ids(seen.after(0))).toEqual(['a', 'b']);
  expect(ids(seen.after(2000))).toEqual(['b']);
});

it('updates its outcome', () => {
  const seen = new SeenRuns();
  seen.saw([run('a')], 1000);
  seen.update(event('a', 'failed', '2026-01-01T00:00:05Z'), 2000);
  seen.update(event('a', 'running'), 2100);
  seen.update(event('unknown', 'failed'), 2100);
  expect(seen.after(2000)).toEqual([{ id: 'a', status: 'failed', endedAt: '2026-01-01T00:00:05Z' }]);
});

it('is bounded', () => {
  const seen = new SeenRuns();
  for (let i = 0; i < mostSeen + 10; i++) seen.saw([run(`r${i}`)], i);
  expect(ids(seen.after(0))).toHaveLength(mostSeen);
  expect(ids(seen.after(0))[0]).toBe('r10');
});
