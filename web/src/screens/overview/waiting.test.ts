import { expect, test } from 'vitest';
import type { Fire } from '../../api/types.ts';
import { waitingRows } from './waiting.ts';

const fire = (id: string, job: string, at: string, code?: string, more: Partial<Fire> = {}) =>
  ({ id, job, plannedAt: `2026-03-01T${at}:00Z`, attempts: [], cause: 'cron', status: 'waiting', ...(code && { reason: { code } }), ...more }) as unknown as Fire;

const told = (fires: Fire[]) => waitingRows(fires).map(({ fire: { id }, count }) => [id, count]);

test('fires of a job that wait for the same are one row, the oldest of them first', () => {
  expect(told([fire('b', 'gpu', '02:01', 'no_worker'), fire('a', 'gpu', '02:00', 'no_worker'), fire('c', 'mail', '01:00', 'queued'), fire('d', 'gpu', '02:02', 'queued')])).toEqual([['c', 1], ['a', 2], ['d', 1]]);
});

test('what can be cancelled, and what stands for many, keeps a row of its own', () => {
  expect(told([fire('a', 'gpu', '02:00', 'queued', { attempts: ['r1'] }), fire('b', 'gpu', '02:01', 'queued', { attempts: ['r2'] }), fire('c', 'gpu', '02:02', 'queued')])).toEqual([['a', 1], ['b', 1], ['c', 1]]);
});

test('what starts comes after what is kept waiting, and what is paused last', () => {
  expect(told([fire('p', 'x', '00:00', 'paused'), fire('s', 'y', '00:01'), fire('w', 'z', '00:02', 'no_worker')])).toEqual([['w', 1], ['s', 1], ['p', 1]]);
});
