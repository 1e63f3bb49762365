// The grid of a flow: its steps as rows, its last runs as columns.

import type { FlowGraph } from './graph.ts';
import { isFailure, type NodeState, type NodeStatus } from './state.ts';

/** A cell. Its times are numbers, since most cells of a large grid are never shown. */
export interface GridState extends NodeState {
  /** When it began, in milliseconds since 1970. */
  began?: number | undefined;
  /** How long it took, in milliseconds; undefined while it runs. */
  took?: number | undefined;
}

export interface GridRun {
  id: string;
  plannedAt: string;
  status: NodeStatus;
  startedAt?: string | undefined;
  endedAt?: string | undefined;
  states: ReadonlyMap<string, GridState>;
}

export interface GridRow {
  step: string;
  title?: string | undefined;
  /** A step of earlier runs, which the definition no longer has. */
  gone: boolean;
}

/** Returns the steps of the definition in its order, then those that only earlier runs had. */
export function rowsOf(graph: FlowGraph, runs: readonly GridRun[]): GridRow[] {
  const rows = graph.steps.filter(({ name }) => name !== '').map(({ name, title }): GridRow => ({ step: name, title, gone: false }));
  const known = new Set(rows.map(({ step }) => step));
  for (const { states } of runs) {
    for (const step of states.keys()) {
      if (known.has(step)) continue;
      known.add(step);
      rows.push({ step, gone: true });
    }
  }
  return rows;
}

interface ListedRun {
  id: string;
  plannedAt: string;
  status: NodeStatus;
  startedAt?: string | undefined;
  endedAt?: string | undefined;
  /** Of each listed step; empty if the run did not have it. */
  statuses: readonly (NodeStatus | '')[];
  /** When each began, and how long it took, in milliseconds; negative or absent if it did not. */
  began?: readonly number[] | undefined;
  took?: readonly number[] | undefined;
  /** By index: numbers of attempts above one. */
  attempts?: Readonly<Record<string, number>> | undefined;
  /** Indexes of those that were kept from an earlier flow run. */
  kept?: readonly number[] | undefined;
}

/** Returns runs as the server lists them, the newest first, as columns: the oldest first. */
export function gridRunsOf(steps: readonly { name: string }[], runs: readonly ListedRun[]): GridRun[] {
  return runs.toReversed().map(({ id, plannedAt, status: ofRun, startedAt, endedAt, statuses, began = [], took = [], attempts, kept }) => {
    const old = new Set(kept);
    const since = Date.parse(startedAt ?? '');
    const at = (times: readonly number[], i: number) => ((times[i] ?? -1) < 0 ? undefined : times[i]);
    const states = new Map<string, GridState>();
    for (const [i, { name }] of steps.entries()) {
      const status = statuses[i];
      if (!status) continue;
      const offset = at(began, i);
      states.set(name, { status, kept: old.has(i) || undefined, attempt: attempts?.[i], began: offset === undefined ? undefined : since + offset, took: at(took, i) });
    }
    return { id, plannedAt, status: ofRun, startedAt, endedAt, states };
  });
}

/** Returns how many seconds a cell took, or has taken until now; undefined if it has not begun. */
export function secondsOf({ began, took }: GridState, now: number): number | undefined {
  return began === undefined ? undefined : Math.max(0, took ?? now - began) / 1000;
}

/** Returns the rows with a failure in one of the runs. */
export const failedRows = (rows: readonly GridRow[], runs: readonly GridRun[]) => rows.filter(({ step }) => runs.some(({ states }) => isFailure(states.get(step)?.status ?? 'pending')));

export interface Cell {
  /** The head has the runs: -1. */
  row: number;
  column: number;
}

const moves: Record<string, readonly [rows: number, columns: number]> = {
  ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1], PageUp: [-20, 0], PageDown: [20, 0], Home: [0, -Infinity], End: [0, Infinity],
};

/** Returns the cell that a key leads to; undefined if the key moves nothing. The head is above the first row. With ctrl, Home and End lead to the corners. */
export function cellFor(key: string, ctrl: boolean, { row, column }: Cell, rows: number, columns: number): Cell | undefined {
  const move = moves[key];
  if (!move) return undefined;
  const clamp = (value: number, count: number, least = 0) => Math.min(Math.max(value, least), Math.max(least, count - 1));
  const down = ctrl && (key === 'Home' || key === 'End') ? move[1] : move[0];
  return { row: clamp(row + down, rows, -1), column: clamp(column + move[1], columns) };
}
