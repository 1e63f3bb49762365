// The nearest node in the direction of an arrow key.

import type { Point } from './geometry.ts';

export const arrows = { ArrowRight: [1, 0], ArrowLeft: [-1, 0], ArrowDown: [0, 1], ArrowUp: [0, -1] } as const;
export type Arrow = keyof typeof arrows;

export const isArrow = (key: string): key is Arrow => Object.hasOwn(arrows, key);

/** Returns the index of the nearest centre in a direction; undefined if there is none. A way to the side counts double. */
export function neighbourOf(centres: readonly Point[], at: number, arrow: Arrow): number | undefined {
  const from = centres[at];
  const [dx, dy] = arrows[arrow];
  let best: number | undefined;
  let shortest = Infinity;
  if (!from) return undefined;
  for (const [i, { x, y }] of centres.entries()) {
    const ahead = (x - from.x) * dx + (y - from.y) * dy;
    const aside = Math.abs((x - from.x) * dy) + Math.abs((y - from.y) * dx);
    if (i === at || ahead <= 1 || ahead + 2 * aside >= shortest) continue;
    best = i;
    shortest = ahead + 2 * aside;
  }
  return best;
}
