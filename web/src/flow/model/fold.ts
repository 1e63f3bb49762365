// Folding: of a large flow, steps that follow each other are shown as one node, until the user opens it.

import type { FlowGraph, GraphEdge } from './graph.ts';

/** A flow with more steps than this is folded. */
export const foldAbove = 300;
/** Most steps of one group. */
const largest = 100;
/** About this many groups of a deep flow. */
const groups = 150;

/** Steps that are folded together: an interval in the order of layers, so that folding adds no cycle. */
export interface Group {
  id: string;
  steps: readonly number[];
  /** First and last layer. */
  from: number;
  to: number;
}

/** A node of the drawing: a step, a group, or a name in after that no step has. */
export interface Shown {
  id: string;
  /** Index of the step. */
  step?: number | undefined;
  group?: Group | undefined;
  missing?: string | undefined;
}

/** An edge of the drawing, which may stand for several. */
export interface ShownEdge {
  id: string;
  from: number;
  to: number;
  edges: readonly GraphEdge[];
}

export interface Visible {
  nodes: readonly Shown[];
  edges: readonly ShownEdge[];
  /** Pairs of nodes that place the clean-up after the main part. They are not drawn. */
  order: readonly (readonly [from: number, to: number])[];
}

/** Returns the groups of a flow; those with a single step are left out. None if the flow is small. */
export function groupsOf({ steps, layers }: FlowGraph): Group[] {
  if (steps.length <= foldAbove) return [];
  const order = steps.map((_, i) => i).sort((a, b) => (layers[a] ?? 0) - (layers[b] ?? 0) || a - b);
  const least = Math.ceil(steps.length / groups);
  const all: number[][] = [[]];
  for (const step of order) {
    const now = all.at(-1) as number[];
    const next = now.length > 0 && layers[now.at(-1) as number] !== layers[step];
    if (now.length >= largest || (next && now.length >= least)) all.push([step]);
    else now.push(step);
  }
  return all
    .filter((members) => members.length > 1)
    .map((members) => ({ id: `@${members[0]}`, steps: members, from: layers[members[0] as number] ?? 0, to: layers[members.at(-1) as number] ?? 0 }));
}

/** Returns what is drawn: the steps, with each closed group as one node. */
export function visibleOf(graph: FlowGraph, closed: readonly Group[]): Visible {
  const nodes: Shown[] = [];
  const place = new Int32Array(graph.steps.length).fill(-1);
  const heads = new Map(closed.map((group) => [group.steps[0], group]));
  for (const group of closed) for (const step of group.steps) place[step] = -2;
  for (const [step, id] of graph.ids.entries()) {
    const group = heads.get(step);
    if (group) {
      for (const member of group.steps) place[member] = nodes.length;
      nodes.push({ id: group.id, group });
    } else if (place[step] === -1) {
      place[step] = nodes.length;
      nodes.push({ id, step });
    }
  }
  const first = nodes.length;
  for (const name of graph.missing) nodes.push({ id: `?${name}`, missing: name });
  const edges = new Map<string, { id: string; from: number; to: number; edges: GraphEdge[] }>();
  for (const edge of graph.edges) {
    const from = edge.from < 0 ? first - 1 - edge.from : (place[edge.from] as number);
    const to = place[edge.to] as number;
    // Edges within a group are not shown; a step that waits for itself shows its loop.
    if (from === to && nodes[from]?.group) continue;
    const id = `${nodes[from]?.id}>${nodes[to]?.id}`;
    const known = edges.get(id);
    if (known) known.edges.push(edge);
    else edges.set(id, { id, from, to, edges: [edge] });
  }
  const order = graph.order.map(([from, to]) => [place[from] as number, place[to] as number] as const).filter(([from, to]) => from !== to);
  return { nodes, edges: [...edges.values()], order };
}
