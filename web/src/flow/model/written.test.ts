import { expect, it } from 'vitest';
import { graphOf } from './graph.ts';
import { writtenOf } from './written.ts';

it('a described graph has the edges, conditions and marks of its definition', () => {
  const graph = graphOf(writtenOf({
    steps: [{ name: 'a', kind: 'command', layer: 0, allowFailure: true }, { name: 'm', kind: 'command', layer: 1, forEach: { items: 3 } }, { name: 'z', kind: 'job', job: 'report', layer: 2, rule: 'all_done', when: 'params.X == 1' }, { name: 'end', kind: 'command', layer: 3, finally: true }],
    edges: [{ from: 'a', to: 'm', on: 'success' }, { from: 'a', to: 'z', exitCodes: [7] }, { from: 'm', to: 'z', on: 'done' }],
  }));
  expect(graph.edges.map(({ from, to, on, exitCodes }) => [from, to, exitCodes ?? on])).toEqual([[0, 1, 'success'], [0, 2, [7]], [1, 2, 'done']]);
  expect(graph.layers).toEqual([0, 1, 2, 3]);
  expect(graph.steps.map((step) => step.finally)).toEqual([false, false, false, true]);
  expect(graph.steps[1]?.map).toEqual({ items: 3, list: undefined });
  expect(graph.steps[2]).toMatchObject({ kind: 'job', job: 'report', rule: 'all_done', when: 'params.X == 1' });
  expect(graph.faults).toEqual([]);
});
