import { expect, it } from 'vitest';
import type { Fire } from '../api/types.ts';
import { attentionOf, isOpen, troublesOf } from './troubles.ts';

const fire = (job: string, minute: number, more: Partial<Fire> = {}): Fire => ({
  id: `${job}.${minute}`, job, jobUid: job, plannedAt: new Date(minute * 60_000).toISOString(), cause: 'cron', status: 'failed', attempts: [`${job}.${minute}.1`, `${job}.${minute}.2`], ...more,
});

it('groups fires by job, newest first', () => {
  const gap = { from: '2026-01-01T00:00:00Z', to: '2026-01-02T00:00:00Z', count: 24 };
  const [first, second, ...rest] = troublesOf([fire('a', 9, { status: 'missed', attempts: [], gap }), fire('b', 8), fire('a', 7), fire('a', 6), fire('b', 5, { status: 'lost' })]);
  expect(rest).toEqual([]);
  expect([first?.job, second?.job]).toEqual(['a', 'b']);
  expect([...(first?.counts ?? [])]).toEqual([['missed', 24], ['failed', 2]]);
  expect([...(second?.counts ?? [])]).toEqual([['failed', 1], ['lost', 1]]);
  expect(first?.last.status).toBe('missed');
  expect(first?.lastRun).toBe('a.7.2');
  expect(first?.fires.map(({ id }) => id)).toEqual(['a.9', 'a.7', 'a.6']);
});

it('is empty without fires', () => expect(troublesOf([])).toEqual([]));

it('counts open and acknowledged failures apart', () => {
  const acknowledged = { by: 'ann', at: '2026-01-01T00:00:00Z' };
  const gap = { from: '2026-01-01T00:00:00Z', to: '2026-01-02T00:00:00Z', count: 24 };
  const fires = [fire('a', 1), fire('b', 2, { acknowledged }), fire('b', 3, { status: 'lost' }), fire('c', 4, { status: 'missed', acknowledged, gap }), fire('c', 5, { status: 'missed' })];
  expect(attentionOf(fires, ['failed', 'timed_out', 'lost'])).toEqual({ open: 2, acknowledged: 1 });
  expect(attentionOf(fires, ['missed', 'refused'])).toEqual({ open: 1, acknowledged: 24 });
  expect(fires.filter(isOpen).map(({ id }) => id)).toEqual(['a.1', 'b.3', 'c.5']);
});
