// Positions of nodes and edges.

import { Graph, layout } from '@dagrejs/dagre';
import { columnLayoutOf, isTooLarge } from './columns.ts';
import { gapOf, intoOf, labelHeight, outOf, type Layout, type LayoutInput, type Point } from './geometry.ts';

// Dagre's best ranks need many passes; in a large graph the difference cannot be seen.
const exact = 300;

export function layoutOf(input: LayoutInput): Layout {
  return isTooLarge(input) ? columnLayoutOf(input) : dagreLayoutOf(input);
}

function dagreLayoutOf({ sizes, edges, direction, labels }: LayoutInput): Layout {
  const graph = new Graph({ multigraph: true });
  const right = direction === 'right';
  graph.setGraph({ rankdir: right ? 'LR' : 'TB', nodesep: 16, edgesep: 10, ranksep: gapOf(direction), ranker: sizes.length > exact ? 'longest-path' : 'network-simplex' });
  for (const [i, [width, height]] of sizes.entries()) graph.setNode(String(i), { width, height });
  for (const [i, [from, to]] of edges.entries()) if (from !== to) graph.setEdge(String(from), String(to), labels[i] ? { width: labels[i], height: labelHeight, labelpos: 'c' } : {}, String(i));
  layout(graph);
  const nodes = sizes.map(([width, height], i) => {
    const { x, y } = graph.node(String(i)) as Point;
    return { x: Math.round(x - width / 2), y: Math.round(y - height / 2) };
  });
  const found = edges.map(([from, to], i) => (from === to ? {} : (graph.edge(String(from), String(to), String(i)) as { points?: Point[] } & Partial<Point>)));
  const middles = found.map(({ x, y }, i) => (labels[i] && x !== undefined && y !== undefined ? { x, y } : undefined));
  const placed = edges.map(([from, to], i) => {
    const [start, end] = [outOf(nodes[from], sizes[from], right), intoOf(nodes[to], sizes[to], right)];
    const isBack = right ? end.x < start.x : end.y < start.y;
    // Dagre places a bend in each gap and in each rank; those in the gaps would only add waves, unless the label is there.
    const isLabel = ({ x, y }: Point) => x === middles[i]?.x && y === middles[i]?.y;
    return [start, ...(isBack ? [] : (found[i]?.points ?? []).slice(1, -1).filter((bend, n) => n % 2 === 1 || isLabel(bend))), end];
  });
  return { nodes, edges: placed, labels: middles };
}
