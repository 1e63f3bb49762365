import { describe, expect, it } from 'vitest';
import { foldAbove, groupsOf, visibleOf } from './fold.ts';
import { graphOf, type FlowGraph } from './graph.ts';
import { layersOf } from './order.ts';
import { directionOf } from './sizes.ts';
import { stepsOf } from './steps.ts';

const layered = (layers: number, width: number, parents = 2) => graphOf(stepsOf(Array.from({ length: layers * width }, (_, n) => {
  const [layer, i] = [Math.floor(n / width), n % width];
  return { name: `s${layer}-${i}`, after: layer === 0 ? [] : [...new Set(Array.from({ length: parents }, (_, k) => `s${layer - 1}-${(i + k) % width}`))] };
})));

const isAcyclic = (graph: FlowGraph, closed = groupsOf(graph)) => {
  const { nodes, edges } = visibleOf(graph, closed);
  const layers = layersOf(nodes.length, edges);
  return edges.every(({ from, to }) => (layers[from] ?? 0) < (layers[to] ?? 0));
};

describe('folding', () => {
  it('leaves a flow of up to 300 steps as it is', () => {
    expect(groupsOf(layered(15, 20))).toEqual([]);
    expect(foldAbove).toBe(300);
  });
  it('folds layers', () => {
    const graph = layered(20, 50);
    const groups = groupsOf(graph);
    expect(groups.map(({ steps, from, to }) => [steps.length, from, to])).toEqual(Array.from({ length: 20 }, (_, i) => [50, i, i]));
    const { nodes, edges } = visibleOf(graph, groups);
    expect(nodes).toHaveLength(20);
    expect(edges).toHaveLength(19);
    expect(edges[0]?.edges).toHaveLength(100);
  });
  it.each([['100 layers of 100', 100, 100], ['a chain', 10_000, 1], ['one wide layer', 1, 10_000], ['two wide layers', 2, 5000]])('shows at most 300 nodes of 10,000 steps: %s', (_name, layers, width) => {
    const graph = layered(layers, width);
    const { nodes } = visibleOf(graph, groupsOf(graph));
    expect(nodes.length).toBeLessThanOrEqual(300);
    expect(nodes.reduce((sum, { group }) => sum + (group?.steps.length ?? 1), 0)).toBe(10_000);
    expect(isAcyclic(graph)).toBe(true);
  });
  it('shows the steps of an opened group, with their edges', () => {
    const graph = layered(4, 100);
    const closed = groupsOf(graph).filter((_, i) => i !== 1);
    const { nodes, edges } = visibleOf(graph, closed);
    expect(nodes.filter(({ step }) => step !== undefined)).toHaveLength(100);
    expect(edges.filter(({ edges: all }) => all.length === 2)).toHaveLength(200);
    expect(isAcyclic(graph, closed)).toBe(true);
  });
  it('shows names that no step has', () => {
    const { nodes, edges } = visibleOf(graphOf(stepsOf([{ name: 'a', after: ['load'] }])), []);
    expect(nodes.map(({ id }) => id)).toEqual(['a', '?load']);
    expect(edges.map(({ from, to }) => [from, to])).toEqual([[1, 0]]);
  });
});

it('a graph runs where it is larger', () => {
  const chain = visibleOf(layered(6, 1, 1), []);
  expect(directionOf(chain, 1200, 700)).toBe('right');
  expect(directionOf(chain, 400, 700)).toBe('down');
  expect(directionOf(visibleOf(layered(2, 8), []), 1200, 700)).toBe('right');
  expect(directionOf(visibleOf(layered(9, 2), []), 560, 500)).toBe('down');
});
