// The graph of a stored definition, as the server describes it, in the form of a definition that is written.

import type { DefinitionGraph } from '../../api/types.ts';
import type { Step } from './steps.ts';

/** Returns the steps of a described graph. Its edges have their effective conditions. */
export function writtenOf({ steps, edges }: Pick<DefinitionGraph, 'steps' | 'edges'>): Step[] {
  const after = new Map(steps.map(({ name }) => [name, [] as Step['after'][number][]]));
  for (const { from, to, on, exitCodes } of edges) after.get(to)?.push({ step: from, on, exitCodes });
  return steps.map(({ name, title, kind, job, rule, when, allowFailure, finally: last, fires, forEach }) => ({
    name, title, kind, job, after: after.get(name) ?? [], rule: rule ?? 'all_success', when, allowFailure: allowFailure === true, finally: last === true, map: forEach && { items: forEach.items, list: forEach.list }, fires,
  }));
}
