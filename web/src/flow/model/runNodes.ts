// The nodes of a flow run as the server lists them: the steps, each map followed by its items.

import type { Reason } from '../../api/types.ts';
import type { NamedFire, NodeState, NodeStates, NodeStatus } from './state.ts';

export interface RunNode {
  node: string;
  step: string;
  /** Index of the item of a map; undefined for a step. */
  item?: number | undefined;
  /** The item itself. */
  value?: string | undefined;
  status: NodeStatus;
  /** What the step runs. */
  kind?: string | undefined;
  reason?: Reason | undefined;
  kept?: boolean | undefined;
  /** Of a kept one: the flow run in which it ran. */
  keptFrom?: string | undefined;
  /** Its failure was accepted: it counts as a success. */
  accepted?: { by?: string | undefined; note?: string | undefined; at: string } | undefined;
  run?: string | undefined;
  attempt?: number | undefined;
  /** Ids of the attempts, the first one first. */
  attempts?: readonly string[] | undefined;
  waitingSince?: string | undefined;
  startedAt?: string | undefined;
  endedAt?: string | undefined;
  exitCode?: number | undefined;
  outputs?: Readonly<Record<string, string>> | undefined;
  /** How its end counts for later steps. */
  class?: 'success' | 'failure' | 'skipped' | undefined;
  hidden?: boolean | undefined;
  /** Name of the worker. */
  worker?: string | undefined;
}

/** What the list of fires says of one without an entry; earlier versions wrote the first as "not_run". */
const withoutEntry = ['not run', 'not_run', 'older than the retention'];

const aboutFires: readonly string[] = ['waits_for_fires', 'fires_missing', 'fire_failed'];

/** Returns the fires that a reason names: the first ones that are missing, or the one that has failed. */
export function firesOf({ code, data = {} }: Reason): NamedFire[] | undefined {
  const { job, run } = data;
  if (!aboutFires.includes(code) || job === undefined) return undefined;
  return Object.keys(data).filter((key) => /^at\d*$/.test(key)).sort().map((key) => {
    const plannedAt = data[key] ?? '';
    return { job, plannedAt, unrecorded: withoutEntry.some((words) => data['fires']?.includes(`${plannedAt} (${words})`)), run: key === 'at' ? run : undefined };
  });
}

/** Returns the state of a node. */
export function stateOf({ status, reason, kept, attempt, waitingSince, startedAt, endedAt, exitCode }: RunNode, say: (reason: Reason) => string): Omit<NodeState, 'items'> {
  return { status, reason: reason && say(reason), code: reason?.code, fires: reason && firesOf(reason), kept, attempt, waitingSince, startedAt, endedAt, exitCode };
}

/** Returns the states of the steps, with the statuses of their items; say puts a reason into words. */
export function statesOf(nodes: readonly RunNode[], say: (reason: Reason) => string): NodeStates {
  const states = new Map<string, NodeState & { items?: NodeStatus[] }>();
  for (const node of nodes) {
    const { step, item, status } = node;
    const known = states.get(step);
    if (item !== undefined && known) (known.items ??= [])[item] = status;
    else if (item === undefined) states.set(step, stateOf(node, say));
  }
  return states;
}

/** Returns the numbers of attempts with the ids of their runs, the first one first. */
export function attemptsOf({ attempts = [], run, attempt }: RunNode): { attempt: number; run: string }[] {
  return attempts.map((id, i) => ({ attempt: id === run && attempt !== undefined ? attempt : i + 1, run: id }));
}

/** Returns the states of the nodes of a run on several workers by the names of these, and the runs that a worker has claimed. Of two workers with one name, the second is shown with the number of its node. */
export function workersOf(nodes: readonly RunNode[], say: (reason: Reason) => string): { states: NodeStates; runs: ReadonlyMap<string, string> } {
  const states = new Map<string, NodeState>();
  const runs = new Map<string, string>();
  for (const node of nodes) {
    const { item = 0, worker = '', attempt, run } = node;
    const name = worker === '' || states.has(worker) ? `${worker} #${item}`.trim() : worker;
    states.set(name, stateOf(node, say));
    if (run !== undefined && (attempt ?? 0) > 0) runs.set(name, run);
  }
  return { states, runs };
}
