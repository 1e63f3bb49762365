// The grid of a flow: its steps as rows, its last runs as columns.

import { nodeOf } from '../../lib/jobPlace.ts';
import { groupsOf, visibleOf, type Group } from './fold.ts';
import type { FlowGraph } from './graph.ts';
import { countsOf, isEnded, isFailure, summaryOf, type Counts, type NodeState, type NodeStatus } from './state.ts';

/** A cell. Its times are numbers, since most cells of a large grid are never shown. */
export interface GridState extends NodeState {
  /** When it began, in milliseconds since 1970. */
  began?: number | undefined;
  /** How long it took, in milliseconds; undefined while it runs. */
  took?: number | undefined;
  /** Of a map: how many of its items have each status. */
  counts?: Counts | undefined;
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
  /** Name of the step, or of the node of an item; id of a group. */
  step: string;
  title?: string | undefined;
  /** A step of earlier runs, which the definition no longer has. */
  gone: boolean;
  /** Steps that are folded together, and their names. */
  group?: Group | undefined;
  members?: readonly string[] | undefined;
  /** How deep it is below others, from 1. */
  level?: number;
  /** Whether the rows below it are shown; undefined if there are none. */
  unfolded?: boolean | undefined;
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
  /** By index: the numbers of the items of a map. */
  items?: Readonly<Record<string, { pending?: number; running?: number; succeeded?: number; failed?: number; skipped?: number }>> | undefined;
  /** Indexes of those that were kept from an earlier flow run. */
  kept?: readonly number[] | undefined;
}

/** Returns runs as the server lists them, the newest first, as columns: the oldest first. */
export function gridRunsOf(steps: readonly { name: string }[], runs: readonly ListedRun[]): GridRun[] {
  return runs.toReversed().map(({ id, plannedAt, status: ofRun, startedAt, endedAt, statuses, began = [], took = [], attempts, items, kept }) => {
    const old = new Set(kept);
    const since = Date.parse(startedAt ?? '');
    const at = (times: readonly number[], i: number) => ((times[i] ?? -1) < 0 ? undefined : times[i]);
    const states = new Map<string, GridState>();
    for (const [i, { name }] of steps.entries()) {
      const status = statuses[i];
      if (!status) continue;
      const offset = at(began, i);
      states.set(name, { status, kept: old.has(i) || undefined, attempt: attempts?.[i], began: offset === undefined ? undefined : since + offset, took: at(took, i), counts: items?.[i] && countsOfItems(items[i]) });
    }
    return { id, plannedAt, status: ofRun, startedAt, endedAt, states };
  });
}

function countsOfItems({ pending = 0, running = 0, succeeded = 0, failed = 0, skipped = 0 }: NonNullable<ListedRun['items']>[string]): Counts {
  return { pending, running, succeeded, failed, skipped };
}

/** Adds the items of maps to the columns. */
export function withItems(runs: readonly GridRun[], items: readonly GridRun[]): GridRun[] {
  return runs.map((run) => {
    const more = items.filter(({ id }) => id === run.id);
    return more.length === 0 ? run : { ...run, states: new Map([...run.states, ...more.flatMap(({ states }) => [...states])]) };
  });
}

/** Returns the rows of items by the step that they belong to. */
export function itemRowsOf(names: readonly string[]): ReadonlyMap<string, GridRow[]> {
  const rows = new Map<string, GridRow[]>();
  for (const step of names.toSorted()) {
    const of = nodeOf(step).step;
    rows.set(of, [...(rows.get(of) ?? []), { step, gone: false }]);
  }
  return rows;
}

/**
 * Returns the rows as they are shown: the groups of a large flow, as its graph folds them, and the rows below those that
 * are unfolded, the items of a map among them.
 */
export function foldedRows(graph: FlowGraph, rows: readonly GridRow[], runs: readonly GridRun[], unfolded: ReadonlySet<string>, items: ReadonlyMap<string, readonly GridRow[]>, groups: readonly Group[] = groupsOf(graph)): GridRow[] {
  const known = new Map(rows.map((row) => [row.step, row]));
  const shown: GridRow[] = [];
  const add = (step: string, level: number) => {
    const row = known.get(step);
    if (!row) return;
    known.delete(step);
    const isMap = graph.steps[graph.index.get(step) ?? -1]?.map !== undefined || runs.some(({ states }) => states.get(step)?.counts !== undefined);
    shown.push({ ...row, level, unfolded: isMap ? unfolded.has(step) : undefined });
    if (isMap && unfolded.has(step)) for (const item of items.get(step) ?? []) shown.push({ ...item, level: level + 1 });
  };
  for (const { step, group } of visibleOf(graph, groups).nodes) {
    if (step !== undefined) add(graph.steps[step]?.name ?? '', 1);
    if (!group) continue;
    const members = group.steps.map((i) => graph.steps[i]?.name ?? '');
    shown.push({ step: group.id, gone: false, group, members, level: 1, unfolded: unfolded.has(group.id) });
    for (const member of members) {
      if (unfolded.has(group.id)) add(member, 2);
      else known.delete(member);
    }
  }
  for (const step of [...known.keys()]) add(step, 1);
  return shown;
}

/** Returns what a cell shows: the state of its node or, of a group, the worst status; and how many nodes it stands for have which one. */
export function cellOf({ step, members }: GridRow, { states }: GridRun): { state: GridState | undefined; counts: Counts | undefined } {
  if (members) {
    const counts = countsOf(members.map((member) => states.get(member)));
    const status = summaryOf(counts);
    return { state: status && { status }, counts: status && counts };
  }
  const state = states.get(step);
  const counts = state?.counts;
  // A map that has ended counts its failures itself.
  const worst = counts && !isEnded(state.status) ? summaryOf({ ...counts, [state.status]: 1 }) : undefined;
  return { state: state && worst ? { ...state, status: worst } : state, counts };
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
  /** The head of a row: -1. */
  column: number;
}

const moves: Record<string, readonly [rows: number, columns: number]> = {
  ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1], PageUp: [-20, 0], PageDown: [20, 0], Home: [0, -Infinity], End: [0, Infinity],
};

/** Returns the cell that a key leads to; undefined if the key moves nothing. The head is above the first row. With ctrl, Home and End lead to the corners. */
export function cellFor(key: string, ctrl: boolean, { row, column }: Cell, rows: number, columns: number): Cell | undefined {
  const move = moves[key];
  if (!move) return undefined;
  // The head of a row is left of its first cell.
  const first = (move[1] === -1 || (move[1] === 0 && column < 0)) && row + move[0] >= 0 && row >= 0 ? -1 : 0;
  const clamp = (value: number, count: number, least = 0) => Math.min(Math.max(value, least), Math.max(least, count - 1));
  const down = ctrl && (key === 'Home' || key === 'End') ? move[1] : move[0];
  return { row: clamp(row + down, rows, -1), column: clamp(column + move[1], columns, first) };
}
