import { describe, expect, it } from 'vitest';
import type { Fire, Run } from '../../api/types.ts';
import { barOfFire, barOfRun, endOf, usualOf, type Bar } from './bars.ts';
import { columnFor, columnsOf, minutesOf } from './density.ts';
import { lanesOf, pack } from './lanes.ts';
import { barsAt, boxesIn, boxesOf } from './layout.ts';
import { hour, minute } from './span.ts';

const at = (minutes: number) => new Date(minutes * minute).toISOString();
const run = (id: string, from: number, to?: number, more: Partial<Run> = {}): Bar =>
  barOfRun({ id, job: 'a', status: to === undefined ? 'running' : 'succeeded', fire: id, plannedAt: at(from), startedAt: at(from), endedAt: to === undefined ? undefined : at(to), ...more } as Run);
const lines = (bars: Bar[], now = 100) => pack(bars, now * minute).bars.map(({ bar, line }) => `${bar.id}${line}`);

describe('bars on the axis', () => {
  it('a running run reaches to now', () => expect(endOf(run('x', 10), 30 * minute)).toBe(30 * minute));
  it('a fire that never ran has no length', () => expect(barOfRun({ id: 'x', job: 'a', status: 'missed', plannedAt: at(5), endedAt: at(5) } as Run)).toMatchObject({ from: 5 * minute, to: 5 * minute }));
  it('a planned one has the usual duration of its job', () =>
    expect(barOfFire({ id: 'x', job: 'a', status: 'planned', plannedAt: at(5), dueAt: at(6) } as Fire, { p50: minute, p95: 2 * minute })).toMatchObject({ from: 6 * minute, to: 7 * minute, expected: 8 * minute }));
  it('usual durations are computed from successful runs', () =>
    expect(usualOf([1, 2, 9].map((m) => ({ job: 'a', status: m === 9 ? 'failed' : 'succeeded', startedAt: at(0), endedAt: at(m) }) as Run)).get('a')).toEqual({ p50: 2 * minute, p95: 2 * minute }));
});

describe('packing', () => {
  it('keeps consecutive bars in one line', () => expect(lines([run('b', 20, 30), run('a', 0, 20)])).toEqual(['a0', 'b0']));
  it('puts overlapping bars below', () => expect(lines([run('a', 0, 30), run('b', 10, 20), run('c', 25, 40)])).toEqual(['a0', 'b1', 'c1']));
  it('extends running bars to now', () => expect(lines([run('a', 0), run('b', 50, 60)], 100)).toEqual(['a0', 'b1']));
  it('gives bars with the same start a line each, up to three', () => expect(lines(['a', 'b', 'c', 'd'].map((id) => run(id, 5, 5)))).toEqual(['a0', 'b1', 'c2', 'd2']));
});

describe('lanes', () => {
  const bars = [run('1', 0, 1, { job: 'z' }), run('2', 0, 1, { job: 'b', group: 'g' }), run('3', 2, 3, { job: 'a', group: 'g' }), run('4', 2, 3, { job: 'a', group: 'g', worker: 'w1', workerName: 'one' })];
  const names = (by: 'job' | 'worker', closed: string[] = []) => lanesOf(bars, by, new Set(closed), 0).map((lane) => `${lane.kind === 'group' ? '>' : ''}${lane.name}:${lane.bars.length}`);
  it('of jobs are below their groups, those without one first', () => expect(names('job')).toEqual(['z:1', '>g:0', 'a:2', 'b:1']));
  it('of a collapsed group are one', () => expect(names('job', ['g'])).toEqual(['z:1', '>g:3']));
  it('of a job that was moved are one, in its present group', () => {
    const moved = [run('1', 0, 1, { job: 'a', group: 'old' }), run('2', 2, 3, { job: 'a', group: 'new' })];
    expect(lanesOf(moved, 'job', new Set(), 0).map((lane) => `${lane.id}:${lane.bars.length}`)).toEqual(['g new:0', 'j a:2']);
  });
  it('of workers hold their runs, and the last one fires without a run', () => expect(names('worker')).toEqual(['one:1', ':3']));
});

describe('hit tests', () => {
  const lanes = lanesOf([run('a', 0, 30), run('b', 10, 20), run('c', 50, 51, { job: 'c' })], 'job', new Set(), 0);
  const { boxes, height } = boxesOf(lanes, false);
  const span = { from: 0, to: hour };
  it('find the lane', () => {
    expect(boxesIn(boxes, 0, 1).map((box) => box.lane.name)).toEqual(['a']);
    expect(boxesIn(boxes, height - 1, height).map((box) => box.lane.name)).toEqual(['c']);
    expect(boxesIn(boxes, height, height + 10)).toEqual([]);
  });
  it('find the line, and count other bars at the position', () => {
    const box = boxes[0]!;
    expect(barsAt(box, 150, box.linesTop + 2, span, 600, 0)).toMatchObject({ bar: { id: 'a' }, others: 1 });
    expect(barsAt(box, 150, box.linesTop + 15, span, 600, 0)).toMatchObject({ bar: { id: 'b' }, others: 1 });
    expect(barsAt(box, 450, box.linesTop, span, 600, 0)).toBeUndefined();
  });
  it('tolerate a near miss of small bars', () => expect(barsAt(boxes[1]!, 497, boxes[1]!.linesTop, span, 600, 0)).toMatchObject({ bar: { id: 'c' } }));
});

describe('the strip of fires per minute', () => {
  const fire = (id: string, time: number, status: string, attempt = 1) => barOfRun({ id: `${id}.${attempt}`, fire: id, job: 'a', status, attempt, plannedAt: new Date(time).toISOString() } as Run);
  const counts = minutesOf([
    fire('a', 0, 'failed'), fire('a', 0, 'succeeded', 2), fire('b', 10_000, 'failed', 2), fire('b', 10_000, 'failed'), fire('c', minute, 'missed', 0), fire('d', 7 * minute, 'running'),
    ...['e', 'f'].map((id) => barOfFire({ id, job: 'a', status: 'planned', plannedAt: new Date(7 * minute).toISOString() } as Fire, undefined)),
  ]);
  it('counts fires of minutes by their last attempts', () =>
    expect(counts).toEqual([{ at: 0, fires: 2, by: { ok: 1, bad: 1 } }, { at: minute, fires: 1, by: { warn: 1 } }, { at: 7 * minute, fires: 3, by: { live: 1, plan: 2 } }]));
  it('has the height of a column’s highest minute', () =>
    expect(columnsOf(counts, { from: 0, to: hour }, 5 * minute)).toEqual([
      { at: 0, fires: 2, peakAt: 0, total: 3, by: { ok: 1, bad: 1 } }, { at: 5 * minute, fires: 3, peakAt: 7 * minute, total: 3, by: { live: 1, plan: 2 } },
    ]));
  it('has visible columns', () => expect(columnFor({ from: 0, to: 24 * hour }, 720)).toBe(10 * minute));
});
