// Positions for graphs that would take dagre long: a column for each layer, ordered and aligned by their neighbours.

import { layersOf } from './order.ts';
import { gapOf, intoOf, labelHeight, outOf, type Layout, type LayoutInput, type Point } from './geometry.ts';

const between = 16;
/** Room for an edge that passes between nodes. */
const lane = 6;
/** With more places where edges pass columns, they are drawn straight, across nodes. */
const mostLanes = 20_000;
const passes = 8;
/** Above this many nodes and edges, dagre needs a large part of a second, and soon many. */
const most = 400;

/** Reports whether dagre would take long. */
export const isTooLarge = ({ sizes, edges }: LayoutInput) => sizes.length + edges.length > most;

/** The nodes, then the lanes of edges that pass columns, with what is before and after each of them. */
interface Net {
  columns: number[][];
  before: number[][];
  after: number[][];
  /** The lanes of each edge, from source to target. */
  lanes: number[][];
}

function netOf(count: number, edges: LayoutInput['edges']): Net {
  const layers = layersOf(count, edges.map(([from, to]) => ({ from, to })));
  const columns: number[][] = Array.from({ length: layers.reduce((last, layer) => Math.max(last, layer + 1), 0) }, () => []);
  for (const [node, layer] of layers.entries()) columns[layer]?.push(node);
  const before: number[][] = Array.from({ length: count }, () => []);
  const after: number[][] = Array.from({ length: count }, () => []);
  const join = (from: number, to: number) => {
    after[from]?.push(to);
    before[to]?.push(from);
  };
  const passed = (from: number, to: number) => Math.max(0, (layers[to] ?? 0) - (layers[from] ?? 0) - 1);
  const fits = edges.reduce((sum, [from, to]) => sum + passed(from, to), 0) <= mostLanes;
  const lanes = edges.map(([from, to]) => {
    // Edges of a cycle run back.
    if ((layers[to] ?? 0) <= (layers[from] ?? 0)) return [];
    const own: number[] = [];
    for (let i = 1; fits && i <= passed(from, to); i++) {
      const at = before.push([]) - 1;
      after.push([]);
      columns[(layers[from] ?? 0) + i]?.push(at);
      join(own.at(-1) ?? from, at);
      own.push(at);
    }
    join(own.at(-1) ?? from, to);
    return own;
  });
  return { columns, before, after, lanes };
}

const meanOf = (nodes: readonly number[] | undefined, at: Float64Array, otherwise: number) => (nodes && nodes.length > 0 ? nodes.reduce((sum, node) => sum + (at[node] ?? 0), 0) / nodes.length : otherwise);

/** Sorts each column by the places of the neighbours, to and fro. */
function sortColumns({ columns, before, after }: Net): void {
  const rank = new Float64Array(before.length);
  const number = (column: readonly number[]) => column.forEach((node, i) => (rank[node] = (i + 0.5) / column.length));
  columns.forEach(number);
  for (let pass = 0; pass < passes; pass++) {
    const [near, all] = pass % 2 === 0 ? [before, columns] : [after, columns.toReversed()];
    for (const column of all) {
      const mean = new Map(column.map((node) => [node, meanOf(near[node], rank, rank[node] ?? 0)]));
      column.sort((a, b) => (mean.get(a) ?? 0) - (mean.get(b) ?? 0));
      number(column);
    }
  }
}

/** Returns the places nearest to the wanted ones, in this order and at least so far apart: those that would overlap move together. */
export function spread(wanted: readonly number[], apart: readonly number[]): number[] {
  const blocks: { sum: number; count: number }[] = [];
  const offsets: number[] = [];
  let offset = 0;
  for (const [i, place] of wanted.entries()) {
    offset += apart[i] ?? 0;
    offsets.push(offset);
    let last = { sum: place - offset, count: 1 };
    for (let one = blocks.at(-1); one && one.sum / one.count > last.sum / last.count; one = blocks.at(-1)) {
      blocks.pop();
      last = { sum: one.sum + last.sum, count: one.count + last.count };
    }
    blocks.push(last);
  }
  const starts = blocks.flatMap(({ sum, count }) => Array<number>(count).fill(sum / count));
  return starts.map((start, i) => start + (offsets[i] ?? 0));
}

/** Returns the middles of nodes and lanes across the columns: near those of their neighbours. */
function middlesOf({ columns, before, after }: Net, across: (node: number) => number): Float64Array {
  const middle = new Float64Array(before.length);
  const apart = columns.map((column) => column.map((node, i) => {
    const last = column[i - 1];
    return last === undefined ? 0 : (across(last) + across(node)) / 2 + between;
  }));
  for (const [i, column] of columns.entries()) {
    const length = apart[i]?.reduce((sum, one) => sum + one, 0) ?? 0;
    spread(column.map(() => -length / 2), apart[i] ?? []).forEach((place, n) => (middle[column[n] ?? 0] = place));
  }
  for (let pass = 0; pass < passes; pass++) {
    const forth = pass % 2 === 0;
    for (const i of forth ? columns.keys() : [...columns.keys()].reverse()) {
      const column = columns[i] ?? [];
      const near = pass >= passes - 2 ? [before, after] : [forth ? before : after];
      const wanted = column.map((node) => meanOf(near.flatMap((one) => one[node] ?? []), middle, middle[node] ?? 0));
      spread(wanted, apart[i] ?? []).forEach((place, n) => (middle[column[n] ?? 0] = place));
    }
  }
  return middle;
}

/** Places the nodes in columns, or in rows if the graph runs down. */
export function columnLayoutOf({ sizes, edges, direction, labels }: LayoutInput): Layout {
  const right = direction === 'right';
  // Along the layers, and across them.
  const along = (node: number) => sizes[node]?.[right ? 0 : 1] ?? 0;
  const across = (node: number) => sizes[node]?.[right ? 1 : 0] ?? lane;
  const net = netOf(sizes.length, edges);
  sortColumns(net);
  const middle = middlesOf(net, across);
  const gap = gapOf(direction) + (right ? Math.max(0, ...labels) : labels.some((label) => label > 0) ? labelHeight : 0);
  const nodes: Point[] = [];
  const ways = new Map<number, Point[]>();
  const point = (a: number, b: number): Point => (right ? { x: a, y: b } : { x: b, y: a });
  let start = 0;
  for (const column of net.columns) {
    const end = start + column.reduce((longest, node) => Math.max(longest, along(node)), 0);
    for (const node of column) {
      const at = middle[node] ?? 0;
      if (node < sizes.length) nodes[node] = point(start, Math.round(at - across(node) / 2));
      else ways.set(node, [point(start, Math.round(at)), point(end, Math.round(at))]);
    }
    start = end + gap;
  }
  const placed = edges.map(([from, to], i) => [outOf(nodes[from], sizes[from], right), ...(net.lanes[i] ?? []).flatMap((one) => ways.get(one) ?? []), intoOf(nodes[to], sizes[to], right)]);
  // The label is in the first gap that the edge crosses.
  const middles = placed.map(([a, b], i) => (labels[i] && a && b ? { x: (a.x + b.x) / 2, y: (a.y + b.y) / 2 } : undefined));
  return { nodes, edges: placed, labels: middles };
}
