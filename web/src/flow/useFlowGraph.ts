import { useMemo } from 'react';
import { graphOf, type FlowGraph } from './model/graph.ts';
import { stepsOf, type Step } from './model/steps.ts';

/** Returns the graph of the steps of a definition; undefined if it has none. It is the same one until the graph changes. */
export function useFlowGraph(steps: unknown): FlowGraph | undefined {
  const written = useMemo(() => (Array.isArray(steps) ? JSON.stringify(stepsOf(steps)) : undefined), [steps]);
  return useMemo(() => (written === undefined ? undefined : graphOf(JSON.parse(written) as Step[])), [written]);
}
