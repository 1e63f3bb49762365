import { describe, expect, it } from 'vitest';
import { columnLayoutOf, isTooLarge, spread } from './columns.ts';
import { pathOf, type LayoutInput } from './geometry.ts';
import { layoutOf } from './layout.ts';
import { neighbourOf } from './neighbours.ts';

const input = (count: number, edges: [number, number][], direction: LayoutInput['direction'] = 'right'): LayoutInput => ({ sizes: Array.from({ length: count }, () => [200, 60] as const), edges, direction, labels: edges.map(() => 0) });

const overlaps = ({ sizes }: LayoutInput, nodes: readonly { x: number; y: number }[]) => nodes.some((a, i) => nodes.some((b, j) => {
  const [[aw = 0, ah = 0], [bw = 0, bh = 0]] = [sizes[i] ?? [], sizes[j] ?? []];
  return i < j && a.x < b.x + bw && b.x < a.x + aw && a.y < b.y + bh && b.y < a.y + ah;
}));

const diamond: [number, number][] = [[0, 1], [0, 2], [1, 3], [2, 3], [0, 3]];
const wide = input(400, Array.from({ length: 200 }, (_, i) => [i, 200 + ((i * 7) % 200)] as [number, number]));

describe.each([['dagre', layoutOf], ['columns', columnLayoutOf]])('the layout by %s', (_name, lay) => {
  it.each(['right', 'down'] as const)('runs %s, and no node covers another', (direction) => {
    const of = input(4, diamond, direction);
    const { nodes, edges } = lay(of);
    const along = nodes.map(({ x, y }) => (direction === 'right' ? x : y));
    for (const [from, to] of diamond) expect(along[from]).toBeLessThan(along[to] as number);
    expect(overlaps(of, nodes)).toBe(false);
    for (const [i, [from, to]] of diamond.entries()) {
      const [a, b] = [nodes[from], nodes[to]];
      expect(edges[i]?.[0]).toEqual(direction === 'right' ? { x: (a?.x ?? 0) + 200, y: (a?.y ?? 0) + 30 } : { x: (a?.x ?? 0) + 100, y: (a?.y ?? 0) + 60 });
      expect(edges[i]?.at(-1)).toEqual(direction === 'right' ? { x: b?.x, y: (b?.y ?? 0) + 30 } : { x: (b?.x ?? 0) + 100, y: b?.y });
    }
  });
  it('places nodes of a cycle, a loop and nothing at all', () => {
    expect(lay(input(3, [[0, 1], [1, 2], [2, 0], [1, 1]])).nodes).toHaveLength(3);
    expect(lay(input(0, []))).toEqual({ nodes: [], edges: [], labels: [] });
  });
});

it('a label has room between its nodes, and its edge passes it', () => {
  const of = { ...input(4, diamond), labels: [0, 0, 60, 0, 80] };
  const { nodes, edges, labels } = layoutOf(of);
  expect(labels.map((at) => at !== undefined)).toEqual([false, false, true, false, true]);
  for (const [i, at] of labels.entries()) {
    if (!at) continue;
    expect(edges[i]).toContainEqual(at);
    expect(overlaps({ ...of, sizes: [...of.sizes, [of.labels[i] ?? 0, 18]] }, [...nodes, { x: at.x - (of.labels[i] ?? 0) / 2, y: at.y - 9 }])).toBe(false);
  }
});

describe('large graphs', () => {
  it('are laid out in columns', () => {
    expect(isTooLarge(wide)).toBe(true);
    expect(isTooLarge(input(4, diamond))).toBe(false);
    expect(overlaps(wide, layoutOf(wide).nodes)).toBe(false);
  });
  it('lead edges past the nodes of the columns that they cross', () => {
    // A chain of two hundred, with edges over five nodes of it, which therefore have a way around.
    const edges = Array.from({ length: 200 }, (_, i) => (i < 199 ? [[i, i + 1], ...(i % 20 === 0 && i + 6 < 200 ? [[i, i + 6]] : [])] : [])).flat() as [number, number][];
    const of = input(200, edges);
    const { nodes, edges: ways } = columnLayoutOf(of);
    for (const [i, [from, to]] of edges.entries()) {
      if (to - from < 2) continue;
      expect(ways[i]).toHaveLength(12);
      for (const { x, y } of (ways[i] ?? []).slice(1, -1)) expect(nodes.some((at) => at.x <= x && x <= at.x + 200 && at.y < y && y < at.y + 60)).toBe(false);
    }
  });
  it('align a chain', () => {
    const { nodes } = columnLayoutOf(input(500, Array.from({ length: 499 }, (_, i) => [i, i + 1])));
    expect(new Set(nodes.map(({ y }) => y)).size).toBe(1);
  });
  it('keep the order and the distance of what would overlap', () => {
    expect(spread([0, 100, 90, 300], [0, 20, 20, 20])).toEqual([0, 85, 105, 300]);
    expect(spread([5, 5, 5], [0, 10, 10])).toEqual([-5, 5, 15]);
  });
  it('have related nodes near each other', () => {
    const { nodes } = columnLayoutOf(wide);
    const far = wide.edges.filter(([from, to]) => Math.abs((nodes[from]?.y ?? 0) - (nodes[to]?.y ?? 0)) > 2000);
    expect(far.length).toBeLessThan(wide.edges.length / 10);
  });
});

it('an edge is a curve through its points', () => {
  expect(pathOf([{ x: 0, y: 0 }, { x: 100, y: 40 }], 'right')).toBe('M0 0C50 0 50 40 100 40');
  expect(pathOf([{ x: 0, y: 0 }, { x: 40, y: 100 }], 'down')).toBe('M0 0C0 50 40 50 40 100');
  expect(pathOf([], 'right')).toBe('');
});

describe('arrow keys', () => {
  const centres = [{ x: 0, y: 0 }, { x: 300, y: -50 }, { x: 300, y: 50 }, { x: 600, y: 0 }];
  it('lead to the nearest node in their direction', () => {
    expect(neighbourOf(centres, 0, 'ArrowRight')).toBe(1);
    expect(neighbourOf(centres, 1, 'ArrowDown')).toBe(2);
    expect(neighbourOf(centres, 3, 'ArrowLeft')).toBe(1);
    expect(neighbourOf(centres, 2, 'ArrowRight')).toBe(3);
  });
  it('lead nowhere at the edge', () => expect(neighbourOf(centres, 3, 'ArrowRight')).toBeUndefined());
});
