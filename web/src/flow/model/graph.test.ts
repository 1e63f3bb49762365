import { describe, expect, it } from 'vitest';
import { graphOf } from './graph.ts';
import { stepsOf } from './steps.ts';

/** Builds a graph from lines such as "c after a b". */
const graph = (...lines: string[]) => graphOf(stepsOf(lines.map((line) => {
  const [name = '', after = ''] = line.split(' after ');
  return { name, command: 'true', after: after === '' ? [] : after.split(' ') };
})));

describe('steps', () => {
  it('are read in all their forms', () => {
    const [a, b, c] = stepsOf([
      { name: 'a', title: 'Load', command: 'x', forEach: { items: ['1', '2'] }, allowFailure: true },
      { name: 'b', job: 'report', after: ['a', { step: 'z', on: 'failure' }, { step: 'y', exitCodes: [7, 28] }], rule: 'all_done', when: 'params.DAY != "x"' },
      { name: 'c', approval: { text: 'Publish?' } },
    ]);
    expect(a).toMatchObject({ kind: 'command', title: 'Load', map: { items: 2 }, allowFailure: true, rule: 'all_success' });
    expect(b).toMatchObject({ kind: 'job', job: 'report', rule: 'all_done', when: 'params.DAY != "x"', after: [{ step: 'a' }, { step: 'z', on: 'failure' }, { step: 'y', exitCodes: [7, 28] }] });
    expect(c).toMatchObject({ kind: 'approval', question: 'Publish?' });
  });
  it('are read at their places, whatever is typed', () => {
    expect(stepsOf(undefined)).toEqual([]);
    expect(stepsOf('a')).toEqual([]);
    const [none, text, odd] = stepsOf([null, 'load', { name: 7, after: 'a', rule: 'sometimes', when: {}, forEach: [], approval: 'x' }]);
    expect([none?.name, text?.name, odd?.name]).toEqual(['', '', '']);
    expect(odd).toMatchObject({ after: [], rule: 'all_success', kind: 'command' });
    expect(stepsOf([{ name: 'a', after: [null, 3, { on: 'sometimes', step: 'b' }] }])[0]?.after.map(({ step, on }) => [step, on])).toEqual([['', undefined], ['', undefined], ['b', undefined]]);
  });
});

describe('the graph', () => {
  it('has layers by the longest path', () => expect(graph('a', 'b after a', 'c after b a', 'd').layers).toEqual([0, 1, 2, 0]));
  it('has the condition of the rule on edges without their own', () => {
    const { edges } = graphOf(stepsOf([{ name: 'a' }, { name: 'b', rule: 'one_failed', after: ['a'] }, { name: 'c', rule: 'none_failed', after: ['a', { step: 'b', on: 'skipped' }] }]));
    expect(edges.map(({ on }) => on)).toEqual(['failure', 'not_failed', 'skipped']);
  });
  it('places clean-up steps after all others, whatever they name', () => {
    const { layers, edges, order, steps } = graphOf(stepsOf([{ name: 'a' }, { name: 'b', after: ['a'] }, { name: 'c', after: ['b'] }, { name: 'x', after: ['a'], finally: true }, { name: 'y', after: ['x'], finally: true }, { name: 'z', finally: true }]));
    expect(layers).toEqual([0, 1, 2, 3, 4, 3]);
    expect(order).toEqual([[2, 3], [2, 5]]);
    expect(edges.map(({ on }) => on)).toEqual(['success', 'success', 'done', 'done']);
    expect(steps.map((step) => step.finally)).toEqual([false, false, false, true, true, true]);
  });
  it('names a cycle, and marks the edge that closes it', () => {
    const { faults, edges } = graph('a after c', 'b after a', 'c after b', 'd after c');
    expect(faults).toEqual([{ kind: 'cycle', location: 'steps[2].after[0]', name: 'a → b → c → a', steps: [0, 1, 2] }]);
    expect(edges.filter(({ cyclic }) => cyclic)).toHaveLength(3);
  });
  it('finds one cycle of each tangle, and a step that waits for itself', () => {
    expect(graph('a after b', 'b after a', 'c after c', 'd after e a', 'e after d').faults.map(({ name }) => name)).toEqual(['a → b → a', 'c → c', 'd → e → d']);
  });
  it('shortens the path of a long cycle', () => {
    const path = graph(...Array.from({ length: 50 }, (_, i) => `s${i} after s${(i + 49) % 50}`)).faults[0]?.name.split(' → ');
    expect(path?.slice(-3)).toEqual(['s18', '…', 's0']);
    expect(path).toHaveLength(21);
  });
  it('points to names that no step has, and shows them', () => {
    const { faults, missing, edges } = graph('a after load', 'b after load a');
    expect(faults.map(({ kind, location, name }) => [kind, location, name])).toEqual([['unknown', 'steps[0].after[0]', 'load'], ['unknown', 'steps[1].after[0]', 'load']]);
    expect(missing).toEqual(['load']);
    expect(edges.filter(({ from }) => from < 0).map(({ from, to }) => [from, to])).toEqual([[-1, 0], [-1, 1]]);
  });
  it('points to names that are used twice', () => {
    const { faults, ids } = graph('a', 'a after b b', 'b');
    expect(faults.map(({ kind, location, name }) => [kind, location, name])).toEqual([['duplicate', 'steps[1].name', 'a'], ['twice', 'steps[1].after[1]', 'b']]);
    expect(new Set(ids).size).toBe(3);
  });
  it('has no faults while a name is typed', () => expect(graphOf(stepsOf([{ name: '' }, {}, { name: 'a', after: [''] }])).faults).toEqual([]));
  it('handles a chain of 10,000 steps, also one that bites its tail', () => {
    const chain = Array.from({ length: 10_000 }, (_, i) => (i === 0 ? 's0' : `s${i} after s${i - 1}`));
    expect(graph(...chain).layers.at(-1)).toBe(9999);
    expect(graph('s0 after s9999', ...chain.slice(1)).faults).toHaveLength(1);
  });
});
