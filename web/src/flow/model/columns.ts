// Positions for graphs that are too large or too wide for dagre: a column for each layer, ordered by the sources.

import { layersOf } from './order.ts';
import { gapOf, intoOf, outOf, type Layout, type LayoutInput, type Point } from './geometry.ts';

const between = 16;
const passes = 4;

export function columnsOf(count: number, edges: LayoutInput['edges']): number[][] {
  const layers = layersOf(count, edges.map(([from, to]) => ({ from, to })));
  const columns: number[][] = [];
  for (const [node, layer] of layers.entries()) (columns[layer] ??= []).push(node);
  const near: number[][] = Array.from({ length: count }, () => []);
  for (const [from, to] of edges) {
    near[from]?.push(to);
    near[to]?.push(from);
  }
  const rank = new Float64Array(count);
  const number = (column: readonly number[]) => column.forEach((node, i) => (rank[node] = (i + 0.5) / column.length));
  columns.forEach(number);
  for (let pass = 0; pass < passes; pass++) {
    for (const column of pass % 2 === 0 ? columns : columns.toReversed()) {
      const mean = new Map(column.map((node) => [node, near[node]?.length ? near[node].reduce((sum, other) => sum + (rank[other] ?? 0), 0) / near[node].length : (rank[node] ?? 0)]));
      column.sort((a, b) => (mean.get(a) ?? 0) - (mean.get(b) ?? 0));
      number(column);
    }
  }
  return columns;
}

/** Reports whether dagre would need many seconds. */
export function isTooLarge({ sizes, edges }: LayoutInput): boolean {
  if (sizes.length > 2500 || edges.length > 6000) return true;
  const widths = new Map<number, number>();
  for (const layer of layersOf(sizes.length, edges.map(([from, to]) => ({ from, to })))) widths.set(layer, (widths.get(layer) ?? 0) + 1);
  return Math.max(0, ...widths.values()) > 150;
}

/** Places the nodes in columns, or in rows if the graph runs down. */
export function columnLayoutOf({ sizes, edges, direction, labels }: LayoutInput): Layout {
  const right = direction === 'right';
  // Along the layers, and across them.
  const along = (node: number) => sizes[node]?.[right ? 0 : 1] ?? 0;
  const across = (node: number) => sizes[node]?.[right ? 1 : 0] ?? 0;
  const nodes: Point[] = [];
  let start = 0;
  for (const column of columnsOf(sizes.length, edges)) {
    const length = column.reduce((sum, node) => sum + across(node) + between, -between);
    let place = Math.round(-length / 2);
    for (const node of column) {
      nodes[node] = right ? { x: start, y: place } : { x: place, y: start };
      place += across(node) + between;
    }
    start += column.reduce((most, node) => Math.max(most, along(node)), 0) + gapOf(direction) + (right ? Math.max(0, ...labels) : 0);
  }
  const ends = edges.map(([from, to]): [Point, Point] => [outOf(nodes[from], sizes[from], right), intoOf(nodes[to], sizes[to], right)]);
  return { nodes, edges: ends, labels: ends.map(([a, b], i) => (labels[i] ? { x: (a.x + b.x) / 2, y: (a.y + b.y) / 2 } : undefined)) };
}
