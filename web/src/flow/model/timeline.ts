// The timeline of a flow run: when each node began and ended. Times are milliseconds.

import type { FlowGraph } from './graph.ts';
import type { NodeStates, NodeStatus } from './state.ts';

export interface Bar {
  step: string;
  status: NodeStatus;
  from: number;
  /** The present for a node that still runs, or waits. */
  to: number;
  /** It has not started: it waits for an answer or for fires. */
  waits?: boolean;
  /** When the last of the steps before it had ended, if it began later: until then it waited for a slot, a worker or a pool. */
  ready?: number | undefined;
  /** The step before it that ended last. */
  last?: string | undefined;
}

/** Returns the step that a step waited for last, and when that ended. */
function lastBefore(graph: FlowGraph | undefined, states: NodeStates, step: string, from: number): Pick<Bar, 'ready' | 'last'> {
  let found: Pick<Bar, 'ready' | 'last'> = {};
  for (const { step: name } of graph?.steps[graph.index.get(step) ?? -1]?.after ?? []) {
    const state = states.get(name);
    const ended = state?.kept ? NaN : Date.parse(state?.endedAt ?? '');
    if (ended <= from && ended > (found.ready ?? -Infinity)) found = { ready: ended, last: name };
  }
  return found;
}

/** Returns how many seconds a step waited after the steps before it had ended; undefined if it has not begun, or began the flow run. */
export function waitedOf(graph: FlowGraph, states: NodeStates, step: string): number | undefined {
  const state = states.get(step);
  const from = state?.kept ? NaN : Date.parse(state?.startedAt ?? '');
  const { ready } = lastBefore(graph, states, step, from);
  return ready === undefined ? undefined : (from - ready) / 1000;
}

/** Returns the nodes that have begun, or wait for an answer or for fires, the first one first. Kept ones ran in another flow run. */
export function barsOf(states: NodeStates, now: number, graph?: FlowGraph): Bar[] {
  const bars = [...states].flatMap(([step, { status, kept, waitingSince, startedAt, endedAt }]): Bar[] => {
    if (kept) return [];
    const waits = startedAt === undefined && waitingSince !== undefined;
    const from = Date.parse(startedAt ?? waitingSince ?? '');
    const to = endedAt === undefined ? now : Date.parse(endedAt);
    return Number.isNaN(from) || Number.isNaN(to) ? [] : [{ step, status, from, to: Math.max(from, to), ...(waits && { waits }), ...lastBefore(graph, states, step, from) }];
  });
  return bars.sort((a, b) => a.from - b.from || a.to - b.to);
}

/** Returns the steps that made the flow run take as long as it did: the one that ended last, the one that it waited for last, and so on. */
export function criticalOf(bars: readonly Bar[]): ReadonlySet<string> {
  const byStep = new Map(bars.map((bar) => [bar.step, bar]));
  const path = new Set<string>();
  let at = bars.reduce<Bar | undefined>((last, bar) => (last && last.to >= bar.to ? last : bar), undefined);
  for (; at && !path.has(at.step); at = at.last === undefined ? undefined : byStep.get(at.last)) path.add(at.step);
  return path;
}

/** Returns when the first node began and the last one ended. */
export function extentOf(bars: readonly Bar[]): { from: number; to: number } {
  const from = bars.reduce((least, bar) => Math.min(least, bar.from), Infinity);
  const to = bars.reduce((most, bar) => Math.max(most, bar.to), -Infinity);
  return bars.length === 0 ? { from: 0, to: 0 } : { from, to: Math.max(to, from + 1) };
}

const steps = [0.001, 0.01, 0.1, 1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 14_400, 21_600, 43_200, 86_400, 172_800, 604_800];
const most = 6;

/** Returns round numbers of seconds since the begin of an extent, for the marks of its axis. */
export function marksOf({ from, to }: { from: number; to: number }): number[] {
  const length = (to - from) / 1000;
  const step = steps.find((one) => length / one <= most) ?? Math.ceil(length / most / 86_400) * 86_400;
  return Array.from({ length: Math.floor(length / step) + 1 }, (_, i) => i * step);
}
