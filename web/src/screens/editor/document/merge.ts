// Merges three versions of a job: the common base, the saved one of another user, and that of this editor.

import type { Definition } from '../../../api/types.ts';
import { same } from '../../../lib/same.ts';
import { locationOf, valueAt, type Path } from './paths.ts';

export interface Collision {
  path: Path;
  location: string;
  base: unknown;
  theirs: unknown;
  mine: unknown;
}

export interface Merge {
  /** Changes of the other user only: applied. */
  take: { path: Path; value: unknown }[];
  /** Changed differently on both sides. */
  collisions: Collision[];
}

function isNames(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function walk(path: Path, base: unknown, theirs: unknown, mine: unknown, into: Merge): void {
  if (same(theirs, mine) || same(theirs, base)) return;
  // Maps are merged key by key; removing a whole map counts as a change of each key.
  const names = new Set([base, theirs, mine].flatMap((value) => Object.keys((value as object | undefined) ?? {})));
  if (names.size > 0 && [theirs, mine].some(isNames) && [base, theirs, mine].every((value) => value === undefined || isNames(value))) {
    for (const name of names) walk([...path, name], valueAt(base, [name]), valueAt(theirs, [name]), valueAt(mine, [name]), into);
  } else if (same(mine, base)) into.take.push({ path, value: theirs });
  else into.collisions.push({ path, location: locationOf(path), base, theirs, mine });
}

export function merge(base: Definition, theirs: Definition, mine: Definition): Merge {
  const into: Merge = { take: [], collisions: [] };
  walk([], base, theirs, mine, into);
  return into;
}
