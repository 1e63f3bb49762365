// @vitest-environment happy-dom
import { expect, it } from 'vitest';
import { firesAsCsv } from './exportFires.ts';

it('writes a line for each entry, with gaps and reasons', () => {
  const text = firesAsCsv([
    { id: 'x.2', job: 'tick', jobUid: 'x', group: 'ops', plannedAt: '2026-01-02T00:00:00Z', cause: 'cron', status: 'skipped', attempts: [],
      reason: { code: 'paused', text: 'the job is paused: moving, twice', data: {} }, gap: { from: '2026-01-01T00:00:00Z', to: '2026-01-02T00:00:00Z', count: 24 } },
    { id: 'x.1', job: 'tick', jobUid: 'x', plannedAt: '2026-01-01T00:00:00Z', cause: 'manual', status: 'failed', attempts: ['x.1.1', 'x.1.2'] },
  ]);
  expect(text.split('\r\n')).toEqual([
    'plannedAt,job,group,status,cause,reasonCode,reason,dueAt,gapFrom,gapTo,gapCount,attempts,id',
    '2026-01-02T00:00:00Z,tick,ops,skipped,cron,paused,"the job is paused: moving, twice",,2026-01-01T00:00:00Z,2026-01-02T00:00:00Z,24,,x.2',
    '2026-01-01T00:00:00Z,tick,,failed,manual,,,,,,,x.1.1 x.1.2,x.1',
    '',
  ]);
});
