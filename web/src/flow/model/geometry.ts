// What a layout consists of, and the shape of edges.

export type Direction = 'right' | 'down';

export interface Point {
  x: number;
  y: number;
}

/** Nodes with their sizes, and edges by the indexes of their ends. */
export interface LayoutInput {
  sizes: readonly (readonly [width: number, height: number])[];
  edges: readonly (readonly [from: number, to: number])[];
  direction: Direction;
  /** Widths of the labels of the edges; 0 for an edge without. */
  labels: readonly number[];
}

export interface Layout {
  /** Upper left corners of the nodes. */
  nodes: Point[];
  /** Points of the edges from source to target: both ends, and where long edges pass between nodes. */
  edges: Point[][];
  /** Middles of the labels, for edges that have one. */
  labels: (Point | undefined)[];
}

export const labelHeight = 18;

/** Room between two ranks. */
export const gapOf = (direction: Direction) => (direction === 'right' ? 56 : 40);

type Size = readonly [width: number, height: number] | undefined;

/** Returns where edges leave a node. */
export function outOf(at: Point | undefined, [width, height]: Size = [0, 0], right: boolean): Point {
  const { x, y } = at ?? { x: 0, y: 0 };
  return right ? { x: x + width, y: y + height / 2 } : { x: x + width / 2, y: y + height };
}

/** Returns where edges arrive at a node. */
export function intoOf(at: Point | undefined, [width, height]: Size = [0, 0], right: boolean): Point {
  const { x, y } = at ?? { x: 0, y: 0 };
  return right ? { x, y: y + height / 2 } : { x: x + width / 2, y };
}

/** Returns an SVG path through points: it passes each of them in the direction of the graph. */
export function pathOf(points: readonly Point[], direction: Direction): string {
  const [first, ...more] = points;
  if (!first) return '';
  let at = first;
  const curves = more.map((to) => {
    const [a, b] = direction === 'right' ? [at.x, to.x] : [at.y, to.y];
    const reach = Math.round(b > a ? (b - a) / 2 : Math.min(160, 40 + (a - b) / 2));
    const from = at;
    at = to;
    return direction === 'right' ? `C${from.x + reach} ${from.y} ${to.x - reach} ${to.y} ${to.x} ${to.y}` : `C${from.x} ${from.y + reach} ${to.x} ${to.y - reach} ${to.x} ${to.y}`;
  });
  return `M${first.x} ${first.y}${curves.join('')}`;
}
