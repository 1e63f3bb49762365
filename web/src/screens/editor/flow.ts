// The steps in the text of the editor: their graph, and the step at a position.

import { isSeq, type Node } from 'yaml';
import type { FlowGraph, GraphFault } from '../../flow/model/graph.ts';
import { suggest } from './document/suggest.ts';
import { pairAt, type Parsed } from './document/parse.ts';

/** Returns the index of the step whose text contains a position. */
export function stepAt({ doc }: Parsed, at: number): number | undefined {
  const { pair, depth } = pairAt(doc, ['steps']);
  if (depth !== 1 || !isSeq(pair?.value)) return undefined;
  const { items, range } = pair.value;
  if (!range || at > range[2]) return undefined;
  // A step begins with its dash, two characters before its first name.
  const found = items.findLastIndex((item) => (((item as Node | null)?.range?.[0] ?? Infinity) - 2) <= at);
  return found < 0 ? undefined : found;
}

/** Returns the index of the step that a location is in, such as steps[3].after[0]. */
export function stepOf(location: string): number | undefined {
  const index = /^steps\[(\d+)\]/.exec(location)?.[1];
  return index === undefined ? undefined : Number(index);
}

/** Returns the name that was probably meant, where no step has the given one. */
export function meantBy({ index }: FlowGraph, { kind, name }: GraphFault): string | undefined {
  return kind === 'unknown' ? suggest(name, [...index.keys()].slice(0, 1000)) : undefined;
}
