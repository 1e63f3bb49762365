// The values of the items of a map.

import type { RunNode } from './runNodes.ts';
import type { Step } from './steps.ts';

/** Returns the values of the items of a map whose list is an output of a step, as far as it is known. */
export function itemValuesOf(step: Step | undefined, nodes: readonly RunNode[]): readonly string[] | undefined {
  const [, source, key = ''] = /^steps\.([a-z0-9_-]+)\.outputs\.(\w+)$/.exec(step?.map?.list ?? '') ?? [];
  if (source === undefined) return undefined;
  return nodes.find((node) => node.step === source && node.item === undefined)?.outputs?.[key]?.split('\n');
}
