// How far the nodes of a flow run are.

import type { FireStatus } from '../../api/types.ts';

/** Pending nodes wait for the steps before them; waiting ones have a run, or an approval, that has not started. */
export type NodeStatus = 'pending' | Exclude<FireStatus, 'planned'>;

/** A fire that a step waits for, or that was missing when it ended. */
export interface NamedFire {
  job: string;
  plannedAt: string;
  /** The ledger has no entry of it. */
  unrecorded: boolean;
  /** Id of its last run, if known. */
  run?: string | undefined;
}

export interface NodeState {
  status: NodeStatus;
  /** Why it waits, did not run, or ended so, in the reader's language. */
  reason?: string | undefined;
  /** Its code. */
  code?: string | undefined;
  attempt?: number | undefined;
  /** Since when it waits for an answer or for fires. */
  waitingSince?: string | undefined;
  startedAt?: string | undefined;
  endedAt?: string | undefined;
  exitCode?: number | undefined;
  /** It was kept from an earlier flow run, and ended there as the status says. */
  kept?: boolean | undefined;
  /** The fires that its reason names. */
  fires?: readonly NamedFire[] | undefined;
  /** Of a map: the status of each item. */
  items?: readonly NodeStatus[] | undefined;
}

/** States by the name of the step. */
export type NodeStates = ReadonlyMap<string, NodeState>;

const bad: readonly NodeStatus[] = ['failed', 'timed_out', 'killed', 'lost', 'refused', 'missed'];

/** Reports whether a node with this status did not do its work. */
export const isFailure = (status: NodeStatus) => bad.includes(status);

/** Reports whether a node with this status changes no more, unless it is run again. */
export const isEnded = (status: NodeStatus) => isFailure(status) || status === 'succeeded' || status === 'skipped';

/** Statuses in the order in which counts of them are shown: trouble first. */
const order: readonly NodeStatus[] = [...bad, 'running', 'waiting', 'pending', 'skipped', 'succeeded'];

export type Counts = Partial<Record<NodeStatus, number>>;

export function countsOf(states: Iterable<NodeState | undefined>): Counts {
  const counts: Counts = {};
  for (const state of states) if (state) counts[state.status] = (counts[state.status] ?? 0) + 1;
  return counts;
}

/** Returns counts above zero, trouble first. */
export function ranked(counts: Counts): [NodeStatus, number][] {
  return order.flatMap((status) => (counts[status] ? [[status, counts[status]] as [NodeStatus, number]] : []));
}

export const totalOf = (counts: Counts) => Object.values(counts).reduce((sum, n) => sum + n, 0);

export const failedOf = (counts: Counts) => bad.reduce((sum, status) => sum + (counts[status] ?? 0), 0);

/** Returns the one status that stands for several nodes: a failure, else what runs or waits, else what all of them are. */
export function summaryOf(counts: Counts): NodeStatus | undefined {
  const [first] = ranked(counts);
  return first?.[0];
}
