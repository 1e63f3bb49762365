// Positions in the plot, for drawing and for hit tests.

import { endOf, type Bar } from './bars.ts';
import type { Lane, Placed } from './lanes.ts';
import { xOf, type Span } from './span.ts';

export const lineHeight = 11;
const padding = 6;
const headHeight = 26;
/** On a phone the name is above its bars, not beside them. */
export const nameHeight = 17;
/** Narrower bars cannot be seen or hit. */
export const leastWidth = 3;

export interface LaneBox {
  lane: Lane;
  top: number;
  height: number;
  /** Top of its first line. */
  linesTop: number;
}

export function boxesOf(lanes: readonly Lane[], narrow: boolean): { boxes: LaneBox[]; height: number } {
  let top = 0;
  const boxes = lanes.map((lane) => {
    const name = narrow ? nameHeight : 0;
    const height = lane.kind === 'group' ? Math.max(headHeight, lane.closed ? name + padding * 2 + lane.lines * lineHeight : 0) : Math.max(24, padding * 2 + lane.lines * lineHeight) + name;
    const box = { lane, top, height, linesTop: top + name + (height - name - lane.lines * lineHeight) / 2 };
    top += height;
    return box;
  });
  return { boxes, height: top };
}

/** Returns the boxes within a vertical range. */
export function boxesIn(boxes: readonly LaneBox[], from: number, to: number): LaneBox[] {
  let low = 0;
  let high = boxes.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    const box = boxes[middle];
    if (box && box.top + box.height <= from) low = middle + 1;
    else high = middle;
  }
  const found: LaneBox[] = [];
  for (let i = low; i < boxes.length; i++) {
    const box = boxes[i];
    if (!box || box.top >= to) break;
    found.push(box);
  }
  return found;
}

/** Returns start and end of a bar in pixels. */
export function edgesOf(bar: Bar, span: Span, width: number, now: number): { left: number; right: number } {
  const left = xOf(span, width, bar.from);
  return { left, right: Math.max(left + leastWidth, xOf(span, width, endOf(bar, now))) };
}

/** Returns the bar at a position of a lane, and the number of other bars at the same position. */
export function barsAt(box: LaneBox, x: number, y: number, span: Span, width: number, now: number, reach = 4): { bar: Bar; others: number } | undefined {
  const line = Math.min(box.lane.lines - 1, Math.max(0, Math.floor((y - box.linesTop) / lineHeight)));
  const far = ({ bar }: Placed) => {
    const { left, right } = edgesOf(bar, span, width, now);
    return x < left ? left - x : x > right ? x - right : 0;
  };
  const near = box.lane.bars.filter((placed) => far(placed) <= reach);
  const best = near.reduce<Placed | undefined>((a, b) => {
    if (!a) return b;
    const score = (p: Placed) => Math.abs(p.line - line) * 100 + far(p);
    return score(b) < score(a) ? b : a;
  }, undefined);
  return best && { bar: best.bar, others: near.length - 1 };
}
