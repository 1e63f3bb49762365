// The graph of a definition: its steps with their edges, layers and faults. Definitions with faults have a graph, too.

import { cyclesOf, layersOf } from './order.ts';
import { conditionOf, type Condition, type Step } from './steps.ts';

/** A fault that is found without the server. */
export interface GraphFault {
  kind: 'duplicate' | 'unknown' | 'twice' | 'cycle';
  /** Place in the definition, such as steps[3].after[0]. */
  location: string;
  /** The name that is unknown or used twice, or the path of a cycle: a → b → a. */
  name: string;
  /** The steps that it concerns. */
  steps: readonly number[];
}

export interface GraphEdge {
  /** Index of the source; negative for a name without a step: see missing. */
  from: number;
  to: number;
  /** Index in the after of the target. */
  place: number;
  on: Condition;
  exitCodes?: readonly number[] | undefined;
  /** Part of a cycle. */
  cyclic: boolean;
}

export interface FlowGraph {
  steps: readonly Step[];
  /** Ids of the steps: names, except for those without a name or with that of another step. */
  ids: readonly string[];
  edges: readonly GraphEdge[];
  /** Names in after that no step has; the edge from missing[i] has the source -1-i. */
  missing: readonly string[];
  /** For each step the length of the longest path to it; clean-up steps follow all others. */
  layers: readonly number[];
  /** Pairs of steps that place the clean-up after the main part. They are not drawn. */
  order: readonly (readonly [from: number, to: number])[];
  faults: readonly GraphFault[];
  /** Indexes of steps by name. */
  index: ReadonlyMap<string, number>;
}

const mostNames = 20;

/** Returns for each clean-up step without another one before it a step of the last layer of the main part. */
function orderOf(steps: readonly Step[], inner: readonly GraphEdge[]): [number, number][] {
  const isLast = (i: number) => steps[i]?.finally === true;
  const layers = layersOf(steps.length, inner.filter(({ from, to }) => !isLast(from) && !isLast(to)));
  let deepest: number | undefined;
  for (const i of steps.keys()) if (!isLast(i) && (deepest === undefined || (layers[i] ?? 0) > (layers[deepest] ?? 0))) deepest = i;
  if (deepest === undefined) return [];
  const before = deepest;
  const follows = new Set(inner.filter(({ from, to }) => isLast(from) && isLast(to)).map(({ to }) => to));
  return [...steps.keys()].filter((i) => isLast(i) && !follows.has(i)).map((i) => [before, i]);
}

/** Formats a cycle as the server does: from source to target, and back to the first. */
function pathText(names: readonly string[]): string {
  const path = [...names, names[0] ?? ''];
  return (path.length <= mostNames ? path : [...path.slice(0, mostNames - 1), '…', ...path.slice(-1)]).join(' → ');
}

/** Returns the graph of the steps of a definition. */
export function graphOf(steps: readonly Step[]): FlowGraph {
  const index = new Map<string, number>();
  const faults: GraphFault[] = [];
  const ids = steps.map(({ name }, i) => {
    const first = index.get(name);
    if (first !== undefined) faults.push({ kind: 'duplicate', location: `steps[${i}].name`, name, steps: [first, i] });
    else if (name !== '') index.set(name, i);
    return name === '' || first !== undefined ? `#${i}` : name;
  });
  const missing: string[] = [];
  const places = new Map<string, number>();
  const edges: GraphEdge[] = [];
  for (const [to, target] of steps.entries()) {
    const seen = new Set<string>();
    for (const [place, dependency] of target.after.entries()) {
      const { step: name } = dependency;
      const location = `steps[${to}].after[${place}]`;
      if (name === '') continue;
      if (seen.has(name)) {
        faults.push({ kind: 'twice', location, name, steps: [to] });
        continue;
      }
      seen.add(name);
      let from = index.get(name);
      if (from === undefined) {
        faults.push({ kind: 'unknown', location, name, steps: [to] });
        const known = places.get(name) ?? missing.push(name) - 1;
        places.set(name, known);
        from = -1 - known;
      }
      edges.push({ from, to, place, on: conditionOf(target, dependency), exitCodes: dependency.exitCodes, cyclic: false });
    }
  }
  const inner = edges.filter(({ from }) => from >= 0);
  for (const cycle of cyclesOf(steps.length, inner)) {
    const on = new Set(cycle.edges);
    for (const edge of on) edge.cyclic = true;
    // The edge that is last in the text closes the cycle.
    const last = cycle.edges.reduce((a, b) => (b.to > a.to || (b.to === a.to && b.place > a.place) ? b : a));
    faults.push({ kind: 'cycle', location: `steps[${last.to}].after[${last.place}]`, name: pathText(cycle.steps.map((i) => steps[i]?.name ?? '')), steps: cycle.steps });
  }
  const order = orderOf(steps, inner);
  return { steps, ids, edges, missing, layers: layersOf(steps.length, [...inner, ...order.map(([from, to]) => ({ from, to }))]), order, faults, index };
}
