// Turns what is visible, with its positions, into the nodes and edges of the drawing.

import type { TFunction } from 'i18next';
import type { Shown, ShownEdge, Visible } from '../model/fold.ts';
import type { FlowGraph, GraphEdge } from '../model/graph.ts';
import { pathOf, type Direction, type Layout, type LayoutInput, type Point } from '../model/geometry.ts';
import { countsOf, type NodeStates } from '../model/state.ts';
import type { DrawnEdges, DrawnNode, SpecialEdge } from './nodes.ts';
import { conditionText } from './words.ts';

/** What is drawn, and what its layout depends on. */
export interface Content {
  graph: FlowGraph;
  visible: Visible;
  input: LayoutInput;
}

export interface Looks {
  states: NodeStates | undefined;
  faulty: ReadonlySet<string>;
  /** Opened maps. */
  opened: ReadonlySet<string>;
  selected: string | undefined;
}

// Screen readers get the words of the node's own button.
const silent = { 'aria-roledescription': undefined };
/** Without it, each node is rendered once, in view or not, to look for its handles. */
const unconnected: never[] = [];

function dataOf(shown: Shown, graph: FlowGraph, { states, faulty, opened, selected }: Looks): Pick<DrawnNode, 'type' | 'data'> {
  const drawn = { selected: shown.id === selected, faulty: faulty.has(shown.id) };
  if (shown.group) {
    const ids = shown.group.steps.map((i) => graph.ids[i] ?? '');
    return { type: 'group', data: { ...drawn, selected: ids.some((id) => id === selected), faulty: ids.some((id) => faulty.has(id)), group: shown.group, counts: countsOf(ids.map((id) => states?.get(id))) } };
  }
  const step = shown.step === undefined ? undefined : graph.steps[shown.step];
  if (!step) return { type: 'missing', data: { ...drawn, name: shown.missing ?? '' } };
  return { type: 'step', data: { ...drawn, step, state: states?.get(step.name), opened: opened.has(shown.id) } };
}

const sameData = (a: object, b: object) => Object.entries(a).every(([key, value]) => (b as Record<string, unknown>)[key] === value);

/** Returns the nodes; those that have not changed are the same objects as before, so that they are not rendered again. */
export function nodesOf({ graph, visible, input }: Content, layout: Layout, looks: Looks, before: ReadonlyMap<string, DrawnNode>): DrawnNode[] {
  return visible.nodes.map((shown, i) => {
    const [width, height] = input.sizes[i] ?? [0, 0];
    const position = layout.nodes[i] ?? { x: 0, y: 0 };
    const { type, data } = dataOf(shown, graph, looks);
    const old = before.get(shown.id);
    if (old && old.type === type && old.position.x === position.x && old.position.y === position.y && old.width === width && old.height === height) {
      // Counts are computed each time.
      if (type === 'group' ? JSON.stringify({ ...data, group: 0 }) === JSON.stringify({ ...old.data, group: 0 }) && sameData({ group: data.group }, { group: old.data.group }) : sameData(data, old.data)) return old;
    }
    return { id: shown.id, type, data, position, width, height, measured: { width, height }, handles: unconnected, domAttributes: silent } as unknown as DrawnNode;
  });
}

/** Returns the label of an edge: its condition, unless that is success or, where it stands for several, not the same. */
export function labelOf(t: TFunction, { edges }: ShownEdge): string | undefined {
  const [first] = edges;
  return first && isUniform(edges) ? conditionText(t, first.on, first.exitCodes) : undefined;
}

const isUniform = (edges: readonly GraphEdge[]) => edges.every(({ on, exitCodes }) => on === edges[0]?.on && String(exitCodes) === String(edges[0]?.exitCodes));

/** Returns the width of a label, about. */
export const labelWidth = (label: string | undefined) => (label === undefined ? 0 : Math.round([...label].reduce((sum, letter) => sum + (letter > '\u2e80' ? 11 : 6.2), 14)));

/** The arrow at the end of an edge. */
const tipAt = ({ x, y }: Point, direction: Direction) => (direction === 'right' ? `M${x - 8} ${y - 4}L${x} ${y}L${x - 8} ${y + 4}Z` : `M${x - 4} ${y - 8}L${x} ${y}L${x + 4} ${y - 8}Z`);

/** Edges whose end is in the same square of this size are drawn together. */
const square = 1500;

/** Returns the edges. One that stands for several has a condition only if all have the same. */
export function edgesOf(t: TFunction, { graph, visible, input: { direction } }: Content, layout: Layout): DrawnEdges {
  const faults = new Set(graph.faults.filter(({ kind }) => kind !== 'duplicate').map(({ location }) => location));
  const plain = new Map<string, { path: string; tips: string }>();
  const special: SpecialEdge[] = [];
  for (const [i, edge] of visible.edges.entries()) {
    const { id, edges } = edge;
    const [first] = edges;
    const points = layout.edges[i] ?? [];
    const end = points.at(-1);
    if (!first || !end) continue;
    const on = !isUniform(edges) ? undefined : first.exitCodes ? ('exitCodes' as const) : first.on;
    const cyclic = edges.some((one) => one.cyclic);
    const faulty = edges.some(({ to, place }) => faults.has(`steps[${to}].after[${place}]`));
    const [path, tip] = [pathOf(points, direction), tipAt(end, direction)];
    if (cyclic || faulty || (on !== undefined && on !== 'success')) {
      special.push({ id, path, tip, middle: layout.labels[i] ?? end, label: labelOf(t, edge), on, cyclic, faulty });
      continue;
    }
    const place = `${Math.floor(end.x / square)} ${Math.floor(end.y / square)}`;
    const joined = plain.get(place) ?? { path: '', tips: '' };
    joined.path += path;
    joined.tips += tip;
    plain.set(place, joined);
  }
  return { plain: [...plain.values()], special };
}

/** Returns the extent of a layout. */
export function boundsOf({ nodes }: Layout, { sizes }: LayoutInput): { x: number; y: number; width: number; height: number } {
  let [x, y, right, bottom] = [Infinity, Infinity, -Infinity, -Infinity];
  for (const [i, at] of nodes.entries()) {
    const [width, height] = sizes[i] ?? [0, 0];
    [x, y, right, bottom] = [Math.min(x, at.x), Math.min(y, at.y), Math.max(right, at.x + width), Math.max(bottom, at.y + height)];
  }
  return nodes.length === 0 ? { x: 0, y: 0, width: 0, height: 0 } : { x, y, width: right - x, height: bottom - y };
}

export const smallestZoom = 0.04;
/** Names are readable from here on. */
const readable = 0.6;
/** A narrow view shows more of the graph instead. */
const readableNarrow = 0.48;
const margin = 16;

/** Room for the buttons over the drawing. */
const tools = 48;

/** Returns the view of a graph: all of it if its names stay readable, else its beginning, as large as fits across; whole shows all of it anyway. */
export function viewOf(bounds: ReturnType<typeof boundsOf>, width: number, height: number, direction: Direction, whole: boolean): Point & { zoom: number } {
  const [wide, high] = [(width - 2 * margin) / Math.max(1, bounds.width), (height - margin - tools) / Math.max(1, bounds.height)];
  const fitting = Math.min(1, wide, high);
  const across = Math.min(1, direction === 'right' ? high : wide);
  const least = width < 500 ? readableNarrow : readable;
  const zoom = whole ? Math.max(smallestZoom, fitting) : fitting >= least ? fitting : Math.max(least, across);
  const place = (first: number, last: number, from: number, size: number, begin: boolean) => (begin && size * zoom > last - first ? first : (first + last - size * zoom) / 2) - from * zoom;
  return { x: place(margin, width - margin, bounds.x, bounds.width, direction === 'right' && !whole), y: place(tools, height - margin, bounds.y, bounds.height, direction === 'down' && !whole), zoom };
}
