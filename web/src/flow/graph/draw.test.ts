import { describe, expect, it } from 'vitest';
import { groupsOf, visibleOf } from '../model/fold.ts';
import { graphOf } from '../model/graph.ts';
import { layoutOf } from '../model/layout.ts';
import { sizeOf } from '../model/sizes.ts';
import type { NodeState } from '../model/state.ts';
import { stepsOf } from '../model/steps.ts';
import { boundsOf, edgesOf, nodesOf, viewOf, type Content, type Looks } from './draw.ts';

const t = ((key: string, data?: { codes?: string }) => (data?.codes ? `${key}:${data.codes}` : key)) as never;

function contentOf(steps: unknown[]): Content {
  const graph = graphOf(stepsOf(steps));
  const visible = visibleOf(graph, groupsOf(graph));
  return { graph, visible, input: { direction: 'right', labels: visible.edges.map(() => 0), sizes: visible.nodes.map((node) => sizeOf(node, graph, undefined)), edges: visible.edges.map(({ from, to }) => [from, to] as const) } };
}

const looks = (more: Partial<Looks> = {}): Looks => ({ states: undefined, faulty: new Set(), opened: new Set(), selected: undefined, ...more });
const small = contentOf([{ name: 'a' }, { name: 'b', after: [{ step: 'a', on: 'failure' }] }, { name: 'c', after: ['a', { step: 'b', exitCodes: [7] }] }, { name: 'd', after: ['c', 'x'] }]);
const place = layoutOf(small.input);

describe('the drawing', () => {
  it('labels edges with their condition, unless it is success, and marks those with faults', () => {
    const { plain, special } = edgesOf(t, small, place);
    expect(special.map(({ id, label, faulty }) => [id, label, faulty])).toEqual([['a>b', 'flow.on.failure', false], ['b>c', 'flow.exitCodes:7', false], ['?x>d', undefined, true]]);
    expect(plain.map(({ path, tips }) => [path.split('M').length - 1, tips.split('M').length - 1])).toEqual([[2, 2]]);
  });
  it('draws only what has changed again', () => {
    const states = new Map<string, NodeState>([['a', { status: 'running' }], ['b', { status: 'pending' }]]);
    const before = nodesOf(small, place, looks({ states }), new Map());
    const next = new Map(states).set('b', { status: 'running' });
    const after = nodesOf(small, place, looks({ states: next, selected: 'c' }), new Map(before.map((node) => [node.id, node])));
    expect(after.map((node, i) => node === before[i])).toEqual([true, false, false, true, true]);
  });
  it('counts the states of a group, and marks it if one of its steps is faulty or selected', () => {
    const large = contentOf(Array.from({ length: 400 }, (_, i) => ({ name: `s${i}`, after: i < 100 ? [] : [`s${i - 100}`] })));
    const states = new Map<string, NodeState>([['s0', { status: 'failed' }], ['s1', { status: 'succeeded' }]]);
    const nodes = nodesOf(large, layoutOf(large.input), looks({ states, faulty: new Set(['s150']), selected: 's250' }), new Map());
    expect(nodes.map(({ data }) => [data.faulty, data.selected])).toEqual([[false, false], [true, false], [false, true], [false, false]]);
    expect(nodes[0]?.data).toMatchObject({ counts: { failed: 1, succeeded: 1 } });
    const again = nodesOf(large, layoutOf(large.input), looks({ states, faulty: new Set(['s150']), selected: 's250' }), new Map(nodes.map((node) => [node.id, node])));
    expect(again.every((node, i) => node === nodes[i])).toBe(true);
  });
});

describe('the view', () => {
  const bounds = { x: 0, y: 0, width: 4000, height: 400 };
  it('shows all of a small graph, never enlarged', () => expect(viewOf({ ...bounds, width: 400 }, 1000, 600, 'right', false)).toEqual({ x: 300, y: 116, zoom: 1 }));
  it('shows the beginning of a long one, as large as fits across', () => {
    expect(viewOf(bounds, 1000, 600, 'right', false)).toMatchObject({ x: 16, zoom: 1 });
    expect(viewOf({ ...bounds, width: 400, height: 4000 }, 1000, 600, 'down', false)).toMatchObject({ y: 48, zoom: 1 });
  });
  it('shows the beginning of one that is long and wide, readable', () => expect(viewOf({ ...bounds, height: 4000 }, 1000, 600, 'right', false)).toMatchObject({ x: 16, zoom: 0.6 }));
  it('shows all of it on request', () => expect(viewOf(bounds, 1000, 600, 'right', true).zoom).toBeCloseTo(0.242));
  it('is as large as its nodes', () => expect(boundsOf({ nodes: [{ x: -10, y: 5 }, { x: 50, y: 0 }], edges: [], labels: [] }, { ...small.input, sizes: [[20, 20], [30, 10]] })).toEqual({ x: -10, y: 0, width: 90, height: 25 }));
});
