import { expect, test } from 'vitest';
import type { Fire } from '../../api/types.ts';
import { waitingRows } from './waiting.ts';

const fire = (id: string, job: string, at: string, code?: string, more: Partial<Fire> = {}) =>
  ({ id, job, plannedAt: `2026-03-01T${at}:00Z`, attempts: [], cause: 'cron', status: 'waiting', ...(code && { reason: { code } }), ...more }) as unknown as Fire;

const rowsOf = (fires: Fire[]) => waitingRows(fires).map(({ fire: { id }, count }) => [id, count]);

test('fires of a job with the same reason are one row, oldest first', () => {
  expect(rowsOf([fire('b', 'gpu', '02:01', 'no_worker'), fire('a', 'gpu', '02:00', 'no_worker'), fire('c', 'mail', '01:00', 'queued'), fire('d', 'gpu', '02:02', 'queued')])).toEqual([['c', 1], ['a', 2], ['d', 1]]);
});

test('cancellable fires and gaps have their own rows', () => {
  expect(rowsOf([fire('a', 'gpu', '02:00', 'queued', { attempts: ['r1'] }), fire('b', 'gpu', '02:01', 'queued', { attempts: ['r2'] }), fire('c', 'gpu', '02:02', 'queued')])).toEqual([['a', 1], ['b', 1], ['c', 1]]);
});

test('starting fires come after waiting ones', () => {
  expect(rowsOf([fire('s', 'y', '00:01'), fire('w', 'z', '00:02', 'no_worker')])).toEqual([['w', 1], ['s', 1]]);
});

test('fires of all jobs that wait for a drained worker are one row, gaps included', () => {
  const drained = (id: string, job: string, at: string, more: Partial<Fire> = {}) => fire(id, job, at, undefined, { reason: { code: 'no_worker', text: '', data: { alive: '1', draining: '1' } }, ...more });
  const rows = waitingRows([
    drained('a', 'gpu', '02:00'), drained('b', 'gpu', '02:01'), drained('c', 'mail', '01:00'), drained('g', 'poll', '03:00', { gap: { from: '', to: '', count: 4 } }),
    fire('d', 'train', '00:30', 'no_worker'), drained('r', 'retry', '02:30', { attempts: ['r1'] }),
  ]);
  expect(rows.map(({ id, count, drained: jobs }) => [id, count, jobs?.map(({ job }) => job)])).toEqual([['train no_worker', 1, undefined], ['drained', 7, ['mail', 'gpu', 'poll']], ['r', 1, undefined]]);
});
