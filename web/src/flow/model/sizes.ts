// Sizes of drawn nodes. They depend on the definition alone, so that a graph does not move while its flow runs.

import type { Direction } from './geometry.ts';
import type { FlowGraph } from './graph.ts';
import type { Shown, Visible } from './fold.ts';
import { layersOf } from './order.ts';
import type { Step } from './steps.ts';

export const nodeWidth = 216;
const base = 56;
const row = 24;
/** Squares of an opened map. */
export const squaresInRow = 8;
export const mostSquares = 96;

/** Reports whether a step has marks, or a job, which take a row of their own. */
export const hasMarks = ({ rule, when, allowFailure, finally: last, kind }: Step) => rule !== 'all_success' || when !== undefined || allowFailure || last || kind === 'job' || kind === 'wait';

/** Returns width and height; items is the number of items of an opened map. */
export function sizeOf(shown: Shown, { steps }: FlowGraph, items: number | undefined): readonly [number, number] {
  const step = shown.step === undefined ? undefined : steps[shown.step];
  if (!step) return [nodeWidth, shown.group ? base + row : base];
  const squares = items === undefined ? 0 : Math.ceil(Math.min(items, mostSquares) / squaresInRow) * row + 4;
  return [nodeWidth, base + (hasMarks(step) ? row : 0) + (step.map ? row : 0) + squares];
}

/** Returns the direction in which a graph is larger in a room of this size. */
export function directionOf({ nodes, edges, order }: Visible, width: number, height: number): Direction {
  const layers = layersOf(nodes.length, [...edges, ...order.map(([from, to]) => ({ from, to }))]);
  const counts = new Map<number, number>();
  for (const layer of layers) counts.set(layer, (counts.get(layer) ?? 0) + 1);
  const [long, wide] = [counts.size, Math.max(1, ...counts.values())];
  const [high, gap] = [base + row, 56];
  const right = Math.min(width / (long * (nodeWidth + gap)), height / (wide * high));
  const down = Math.min(width / (wide * nodeWidth), height / (long * (high + gap)));
  // Time runs to the right where there is room for it.
  return right * (width > height ? 1.5 : 1) >= down ? 'right' : 'down';
}
