import { describe, expect, it } from 'vitest';
import { cellFor, failedRows, gridRunsOf, rowsOf, secondsOf, type GridRun } from './grid.ts';
import { graphOf } from './graph.ts';
import { countsOf, failedOf, ranked, summaryOf, type NodeState } from './state.ts';
import { stepsOf } from './steps.ts';
import { barsOf, criticalOf, extentOf, marksOf } from './timeline.ts';

describe('the grid', () => {
  it('has the steps of the definition, then those of earlier runs', () => {
    const run = (id: string, ...steps: string[]): GridRun => ({ id, plannedAt: '', status: 'succeeded', states: new Map(steps.map((step) => [step, { status: 'succeeded' }])) });
    const graph = graphOf(stepsOf([{ name: 'b', title: 'Second' }, { name: 'a' }, {}]));
    expect(rowsOf(graph, [run('1', 'old', 'a'), run('2', 'a', 'b', 'older')])).toEqual([
      { step: 'b', title: 'Second', gone: false }, { step: 'a', title: undefined, gone: false }, { step: 'old', gone: true }, { step: 'older', gone: true },
    ]);
  });
  it('has the runs of the server, the oldest first, with the steps that they had', () => {
    const runs = gridRunsOf([{ name: 'a' }, { name: 'b' }], [{ id: 'new', plannedAt: '2', status: 'running', statuses: ['succeeded', 'pending'], kept: [0] }, { id: 'old', plannedAt: '1', status: 'failed', statuses: ['failed', ''] }]);
    expect(runs.map(({ id, states }) => [id, [...states].map(([step, { status, kept }]) => `${step} ${status}${kept ? ' kept' : ''}`)])).toEqual([['old', ['a failed']], ['new', ['a succeeded kept', 'b pending']]]);
  });
  it('has how long a step took, or has taken until now, and its attempt', () => {
    const steps = ['a', 'b', 'c', 'd'].map((name) => ({ name }));
    const [run] = gridRunsOf(steps, [{ id: 'r', plannedAt: '1', startedAt: '2026-01-01T00:00:00Z', status: 'running', statuses: ['succeeded', 'running', 'pending', 'succeeded'], began: [500, 2000, -1], took: [1500], attempts: { 1: 3 }, kept: [3] }]);
    const cells = steps.map(({ name }) => run?.states.get(name));
    expect(cells.map((cell) => cell && secondsOf(cell, Date.UTC(2026, 0, 1, 0, 0, 10)))).toEqual([1.5, 8, undefined, undefined]);
    expect(cells.map((cell) => cell?.attempt)).toEqual([undefined, 3, undefined, undefined]);
  });
  it('has the steps that failed in one of the runs', () => {
    const runs = gridRunsOf([{ name: 'a' }, { name: 'b' }, { name: 'c' }], [{ id: 'new', plannedAt: '2', status: 'failed', statuses: ['succeeded', 'pending', 'lost'] }, { id: 'old', plannedAt: '1', status: 'failed', statuses: ['failed', '', 'succeeded'] }]);
    expect(failedRows(['a', 'b', 'c', 'd'].map((step) => ({ step, gone: false })), runs).map(({ step }) => step)).toEqual(['a', 'c']);
  });
  it.each([
    ['ArrowRight', false, [4, 3]], ['ArrowUp', false, [3, 2]], ['PageDown', false, [9, 2]], ['Home', false, [4, 0]], ['End', false, [4, 19]], ['Home', true, [-1, 0]], ['End', true, [9, 19]],
  ])('%s (ctrl %s) leads to %j', (key, ctrl, [row, column]) => expect(cellFor(key, ctrl, { row: 4, column: 2 }, 10, 20)).toEqual({ row, column }));
  it('leads to the head of a row, and from there into the head of the grid', () => {
    expect(cellFor('ArrowLeft', false, { row: 4, column: 0 }, 10, 20)).toEqual({ row: 4, column: -1 });
    expect(cellFor('ArrowDown', false, { row: 4, column: -1 }, 10, 20)).toEqual({ row: 5, column: -1 });
    expect(cellFor('ArrowUp', false, { row: 0, column: -1 }, 10, 20)).toEqual({ row: -1, column: 0 });
    expect(cellFor('ArrowRight', false, { row: 4, column: -1 }, 10, 20)).toEqual({ row: 4, column: 0 });
    expect(cellFor('ArrowLeft', false, { row: -1, column: 0 }, 10, 20)).toEqual({ row: -1, column: 0 });
  });
  it('stays within its edges, and leaves other keys alone', () => {
    expect(cellFor('ArrowLeft', false, { row: 0, column: -1 }, 10, 20)).toEqual({ row: 0, column: -1 });
    expect(cellFor('ArrowUp', false, { row: 0, column: 3 }, 10, 20)).toEqual({ row: -1, column: 3 }); // the run
    expect(cellFor('PageUp', false, { row: -1, column: 3 }, 10, 20)).toEqual({ row: -1, column: 3 });
    expect(cellFor('a', false, { row: 0, column: 0 }, 10, 20)).toBeUndefined();
  });
});

describe('states', () => {
  const counts = countsOf([{ status: 'succeeded' }, { status: 'running' }, undefined, { status: 'lost' }, { status: 'succeeded' }]);
  it('are counted, trouble first', () => expect(ranked(counts)).toEqual([['lost', 1], ['running', 1], ['succeeded', 2]]));
  it('have one that stands for all', () => {
    expect(summaryOf(counts)).toBe('lost');
    expect(summaryOf(countsOf([{ status: 'succeeded' }, { status: 'pending' }]))).toBe('pending');
    expect(summaryOf({})).toBeUndefined();
  });
  it('of which some are failures', () => expect(failedOf(countsOf([{ status: 'refused' }, { status: 'killed' }, { status: 'skipped' }]))).toBe(2));
});

describe('the timeline', () => {
  const at = (seconds: number) => new Date(Date.UTC(2026, 0, 1) + seconds * 1000).toISOString();
  const now = Date.UTC(2026, 0, 1, 0, 1);
  const states = new Map<string, NodeState>([
    ['late', { status: 'running', startedAt: at(30) }], ['early', { status: 'succeeded', startedAt: at(0), endedAt: at(10) }], ['never', { status: 'pending' }], ['kept', { status: 'succeeded', kept: true, startedAt: at(-900), endedAt: at(-800) }], ['odd', { status: 'succeeded', startedAt: at(40), endedAt: at(39) }],
  ]);
  const bars = barsOf(states, now);
  it('has the nodes that began, in this order; one that runs ends now', () => {
    expect(bars.map(({ step, from, to }) => [step, (from - Date.parse(at(0))) / 1000, (to - Date.parse(at(0))) / 1000])).toEqual([['early', 0, 10], ['late', 30, 60], ['odd', 40, 40]]);
  });
  it('has how long a step waited after those before it, and the chain that took longest', () => {
    const graph = graphOf(stepsOf([{ name: 'a' }, { name: 'b' }, { name: 'c', after: ['a', 'b'] }, { name: 'd', after: ['a'] }]));
    const found = barsOf(new Map<string, NodeState>([
      ['a', { status: 'succeeded', startedAt: at(0), endedAt: at(10) }], ['b', { status: 'succeeded', startedAt: at(0), endedAt: at(20) }], ['c', { status: 'failed', startedAt: at(25), endedAt: at(50) }], ['d', { status: 'succeeded', startedAt: at(10), endedAt: at(30) }],
    ]), now, graph);
    expect(found.map(({ step, from, ready, last }) => [step, ready === undefined ? undefined : (from - ready) / 1000, last])).toEqual([['a', undefined, undefined], ['b', undefined, undefined], ['d', 0, 'a'], ['c', 5, 'b']]);
    expect([...criticalOf(found)]).toEqual(['c', 'b']);
    expect(criticalOf([]).size).toBe(0);
  });
  it('has a step that waits for an answer or for fires, from then until now', () => {
    const graph = graphOf(stepsOf([{ name: 'a' }, { name: 'w', after: ['a'] }]));
    const found = barsOf(new Map<string, NodeState>([['a', { status: 'succeeded', startedAt: at(0), endedAt: at(10) }], ['w', { status: 'waiting', waitingSince: at(11) }], ['x', { status: 'waiting' }]]), now, graph);
    expect(found.map(({ step, waits, from, to }) => [step, waits, (from - Date.parse(at(0))) / 1000, (to - Date.parse(at(0))) / 1000])).toEqual([['a', undefined, 0, 10], ['w', true, 11, 60]]);
    expect([...criticalOf(found)]).toEqual(['w', 'a']);
  });
  it('extends over all of them', () => {
    expect(extentOf(bars)).toEqual({ from: Date.parse(at(0)), to: now });
    expect(extentOf([])).toEqual({ from: 0, to: 0 });
  });
  it.each([[60, [0, 10, 20, 30, 40, 50, 60]], [3600 * 5, [0, 3600, 7200, 10800, 14400, 18000]], [4, [0, 1, 2, 3, 4]], [86_400 * 100, undefined]])('of %d s has few round marks', (seconds, marks) => {
    const found = marksOf({ from: 0, to: seconds * 1000 });
    expect(found.length).toBeLessThanOrEqual(8);
    if (marks) expect(found).toEqual(marks);
  });
});
