// What the dialogs of flows ask for.

import type { Param, Reason } from '../api/types.ts';

/** What to run again. The scope accepted is what comes after the accepted steps: no scope in the request. */
export const rerunScopes = ['failed', 'accepted', 'from', 'only', 'all'] as const;
export type RerunScope = (typeof rerunScopes)[number];

export interface RerunRequest {
  scope?: Exclude<RerunScope, 'accepted'>;
  /** The steps of the scopes from and only. */
  from?: string[];
  only?: string[];
  /** Failed steps that count as successes from here on. */
  accept?: string[];
  /** Parameters with other values than in the run before. */
  params?: Record<string, string>;
  /** With which definition: as it is now, or as it was in the earlier run. Undefined for a node of a live flow run. */
  definition?: 'current' | 'same';
  note?: string;
  /** Its success starts no jobs that run after the flow. */
  after?: false;
  /** The flow runs of failed steps start from the beginning; they go on from their failures otherwise. */
  nested?: 'restart';
}

export interface RerunPreview {
  /** Names of the nodes that would run: steps, and items of maps that are partly kept. */
  run: readonly string[];
  /** How many would run; the list may be shorter. */
  runTotal: number;
  kept: readonly string[];
  keptTotal: number;
  /** The clean-up steps among those that would run, and those that are skipped. */
  cleanUps?: readonly string[];
  skipped?: readonly string[];
  /** Steps that the earlier run did not have. */
  new?: readonly string[];
  newTotal?: number;
  /** The nodes whose flow runs go on from their failures. */
  nested?: readonly { node: string; runTotal: number; keptTotal: number }[];
  /** The steps whose failures count as successes, and what may surprise. */
  accepted?: readonly string[];
  warnings?: readonly Reason[];
}

export interface RerunForm {
  scope: RerunScope;
  steps: readonly string[];
  definition: 'current' | 'same';
  note: string;
  alone?: boolean;
  restart?: boolean;
  accept?: readonly string[];
  params?: Record<string, string>;
}

/** Reports whether the parameters of a re-run may have other values. */
export const takesParams = (scope: RerunScope) => scope === 'all' || scope === 'from';

/** Returns the request of a form; undefined while it needs the names of steps. The parameters are those that differ from the earlier ones. */
export function rerunOf({ scope, steps, definition, note, accept = [], params = {}, alone = false, restart = false }: RerunForm, before: Record<string, string> = {}): RerunRequest | undefined {
  const named = scope === 'from' || scope === 'only';
  const accepts = scope !== 'all' && accept.length > 0;
  if ((named && steps.length === 0) || (scope === 'accepted' && !accepts)) return undefined;
  const changed = takesParams(scope) ? Object.entries(params).filter(([name, value]) => value !== before[name]) : [];
  return {
    ...(scope !== 'accepted' && { scope }), ...(named && { [scope]: [...steps] }), ...(accepts && { accept: [...accept] }),
    ...(changed.length > 0 && { params: Object.fromEntries(changed) }), definition, ...(note.trim() !== '' && { note: note.trim() }), ...(alone && { after: false }), ...(restart && scope !== 'all' && { nested: 'restart' }),
  };
}

/** Returns the request to start a failed node of a live flow run again. */
export const retryOf = (node: string, note: string): RerunRequest => ({ scope: 'only', only: [node], ...(note.trim() !== '' && { note: note.trim() }) });

/** Returns the request to accept the failure of a node of a live flow run. */
export const acceptOf = (node: string, note: string): RerunRequest => ({ accept: [node], ...(note.trim() !== '' && { note: note.trim() }) });

export const reprocesses = ['none', 'failed', 'all'] as const;
export type Reprocess = (typeof reprocesses)[number];

export interface BackfillRequest {
  from: string;
  to: string;
  reprocess: Reprocess;
  order: 'oldest' | 'newest';
  concurrency: number;
  /** No limit if undefined. */
  maxFailures?: number;
  /** Also dates older than the history of the job. */
  includeUnknown?: true;
  params?: Record<string, string>;
  note?: string;
}

export interface BackfillPreview {
  /** The dates that would run, in this order. */
  items: readonly { plannedAt: string; attempt: number }[];
  /** How many would run; the list may be shorter. */
  total: number;
  /** Dates with a run that has not ended, which are left out. */
  live: readonly string[];
  /** How many dates are left out because they are older than the history of the job. */
  unknown: number;
  warnings: readonly Reason[];
}

export interface BackfillForm {
  from: string | undefined;
  to: string | undefined;
  reprocess: Reprocess;
  order: 'oldest' | 'newest';
  concurrency: string;
  maxFailures: string;
  includeUnknown: boolean;
  params: Record<string, string>;
  note: string;
}

export const mostAtOnce = 50;

/** Fields of the form that cannot be sent as they are. */
export type BackfillFault = 'from' | 'to' | 'concurrency' | 'maxFailures';

const isWhole = (text: string, least: number, most: number) => /^\d{1,6}$/.test(text.trim()) && Number(text) >= least && Number(text) <= most;

export function faultsOf({ from, to, concurrency, maxFailures }: BackfillForm): BackfillFault[] {
  return [
    ...(from === undefined ? ['from' as const] : []),
    ...(to === undefined || (from !== undefined && Date.parse(to) <= Date.parse(from)) ? ['to' as const] : []),
    ...(isWhole(concurrency, 1, mostAtOnce) ? [] : ['concurrency' as const]),
    ...(maxFailures.trim() === '' || isWhole(maxFailures, 0, 10_000) ? [] : ['maxFailures' as const]),
  ];
}

/** Returns the request of a form; undefined while it has faults. Parameters are those that differ from the defaults. */
export function backfillOf(form: BackfillForm, params: Record<string, string>): BackfillRequest | undefined {
  const { from, to, reprocess, order, concurrency, maxFailures, includeUnknown, note } = form;
  if (from === undefined || to === undefined || faultsOf(form).length > 0) return undefined;
  return {
    from, to, reprocess, order, concurrency: Number(concurrency), ...(maxFailures.trim() !== '' && { maxFailures: Number(maxFailures) }),
    ...(includeUnknown && { includeUnknown }), ...(Object.keys(params).length > 0 && { params }), ...(note.trim() !== '' && { note: note.trim() }),
  };
}

/** A step that waits for an operator. */
export interface PendingApproval {
  flow: string;
  flowTitle?: string | undefined;
  run: string;
  step: string;
  text: string;
  since: string;
  /** When it times out. */
  until?: string | undefined;
  /** The user may decide it. */
  mine: boolean;
  /** The user may reject it only, having started the flow run. */
  barred?: boolean | undefined;
  /** Who may decide it, unless operators of the flow's group may. */
  approvers?: { role?: string | undefined; group?: string | undefined } | undefined;
  /** What who approves fills in, by name. */
  params?: Readonly<Record<string, Param>> | undefined;
}

export type Decision = 'approve' | 'reject';
