import { expect, it } from 'vitest';
import type { Run } from '../../api/types.ts';
import { gridOf, heightOf, step, ticksOf } from './grid.ts';

const at = (minute: number, second = 0) => new Date(Date.UTC(2026, 10, 22, 10, minute, second)).toISOString();
const run = (fire: string, attempt: number, minute: number, more: Partial<Run> = {}): Run => ({
  id: `${fire}.${attempt}`, fire, attempt, job: 'a', jobUid: 'u', plannedAt: at(minute), cause: attempt > 1 ? 'retry' : 'cron', status: 'succeeded', outputBytes: 0, ...more,
});
const now = Date.UTC(2026, 10, 22, 11);

it('places the oldest fire on the left, and its attempts below each other', () => {
  const grid = gridOf([run('c', 1, 3), run('b', 2, 2), run('b', 1, 2, { status: 'failed' }), run('a', 1, 1), run('b', 1, 2, { status: 'failed' })], now);
  expect(grid.columns.map((column) => column.runs.map((r) => r?.id))).toEqual([['a.1'], ['b.1', 'b.2'], ['c.1']]);
  expect(grid.rows).toBe(2);
  expect(grid.columns[1]?.last.id).toBe('b.2');
});

it('leaves a hole for an attempt that is not listed', () => expect(gridOf([run('a', 3, 1)], now).columns[0]?.runs.map((r) => r?.attempt)).toEqual([undefined, undefined, 3]));

it('places a fire that did not run in the first row, until there is a run of it', () => {
  expect(gridOf([run('a', 0, 1, { status: 'skipped' })], now).columns[0]?.runs.map((r) => r?.status)).toEqual(['skipped']);
  for (const both of [[run('a', 0, 1, { status: 'waiting' }), run('a', 1, 1)], [run('a', 1, 1), run('a', 0, 1, { status: 'waiting' })]]) {
    expect(gridOf(both, now).columns[0]?.runs.map((r) => r?.attempt)).toEqual([1]);
  }
});

it('measures from the first start to the last end, or to now', () => {
  const grid = gridOf([
    run('a', 1, 1, { startedAt: at(1), endedAt: at(1, 5) }), run('a', 2, 1, { startedAt: at(1, 10), endedAt: at(1, 30) }),
    run('b', 1, 59, { status: 'running', startedAt: at(59, 50) }), run('c', 0, 3, { status: 'missed' }),
  ], now);
  expect(Object.fromEntries(grid.columns.map((column) => [column.fire, column.seconds]))).toEqual({ a: 30, c: undefined, b: 10 });
  expect(grid.longest).toBe(30);
});

it('is empty without runs', () => expect(gridOf([], now)).toEqual({ columns: [], rows: 0, longest: 0 }));

it('gives every run a visible bar', () => {
  expect(heightOf(undefined, 10)).toBe(0);
  expect(heightOf(0, 0)).toBeGreaterThan(0);
  expect(heightOf(0.001, 3600)).toBeGreaterThan(0.05);
  expect(heightOf(3600, 3600)).toBe(1);
});

it('labels the first column of each day, and others if there is room', () => {
  const columns = [...Array(7).keys()].map((i) => ({ plannedAt: at(i) })).concat([{ plannedAt: '2026-11-23T00:00:00Z' }]);
  expect([...ticksOf(columns, (iso) => iso.slice(0, 10), 3)]).toEqual([[0, 'day'], [6, 'time']]);
  expect([...ticksOf(columns, (iso) => iso.slice(0, 10), 1)]).toEqual([[0, 'day'], [2, 'time'], [4, 'time'], [6, 'time'], [7, 'day']]);
});

it.each([
  ['ArrowLeft', [1, 1], [0, 0]], ['ArrowRight', [0, 0], [1, 0]], ['ArrowRight', [1, 1], [2, 2]], ['ArrowDown', [1, 0], [1, 1]], ['ArrowDown', [1, 1], [1, 1]], ['ArrowUp', [2, 2], [2, 2]],
  ['ArrowLeft', [0, 0], [0, 0]], ['ArrowRight', [2, 2], [2, 2]], ['Home', [2, 2], [0, 0]], ['End', [0, 0], [2, 2]], ['PageUp', [2, 2], [0, 0]], ['x', [1, 1], [1, 1]],
] as const)('%s leads from %j to %j', (key, [column, row], [toColumn, toRow]) => {
  const columns = [{ runs: [1] }, { runs: [1, 1] }, { runs: [undefined, undefined, 1] }];
  expect(step(columns, { column, row }, key)).toEqual({ column: toColumn, row: toRow });
});
