// Search parameters of the screens' addresses. The routes parse them; screens and calls use them.

import type { Cause, DeliveryStatus, FireStatus, RunStatus } from '../api/types.ts';

export const accessTabs = ['users', 'tokens', 'sessions', 'audit'] as const;
export type AccessTab = (typeof accessTabs)[number];

/** The shown list and its filters: the user for tokens, all others for the audit. */
export interface AccessSearch {
  tab?: AccessTab;
  user?: string;
  actor?: string;
  kind?: string;
  name?: string;
  verb?: string;
  from?: string;
  to?: string;
}

/** Tabs of a job's page. Its runs are the first tab, which needs no parameter. */
export const jobTabs = ['graph', 'ledger', 'backfills', 'statistics', 'versions', 'definition'] as const;

/** Periods of a job's statistics, which end now. */
export const statisticsRanges = ['day', 'week', 'month', 'quarter', 'year'] as const;
export type StatisticsRange = (typeof statisticsRanges)[number];

export interface JobSearch {
  tab?: (typeof jobTabs)[number];
  /** Shows the runs as a list instead of a grid. */
  view?: 'list';
  status?: RunStatus;
  cause?: Cause;
  range?: StatisticsRange;
  /** A version, and the one to compare it with. */
  version?: number;
  with?: number;
  /** The opened step of the graph or, with a run, of the grid, or that of the statistics. */
  step?: string;
  run?: string;
}

/** Views of the job editor: the form, the YAML, or both side by side. */
export const editorViews = ['form', 'both', 'yaml'] as const;
export type EditorView = (typeof editorViews)[number];

/** Search in the output of all runs. */
export interface OutputSearch {
  q?: string;
  job?: string;
  group?: string;
  worker?: string;
  status?: RunStatus;
  regex?: true;
  case?: true;
  range?: (typeof runRanges)[number];
  from?: string;
  to?: string;
}

export const runRanges = ['hour', 'day', 'week', 'custom'] as const;

/** Filters of the list of runs. */
export interface RunSearch {
  job?: string;
  /** One status, or several separated by commas. */
  status?: string;
  worker?: string;
  cause?: Cause;
  range?: (typeof runRanges)[number];
  from?: string;
  to?: string;
  q?: string;
  exitCode?: string;
  /** Only runs of the nodes of this flow run. */
  flowRun?: string;
}

/** Stream, search and size of a run's log view. */
export interface LogSearch {
  stream?: 'stdout' | 'stderr';
  find?: string;
  regex?: true;
  case?: true;
  full?: true;
}

/** How the steps of a flow run are shown; the graph needs no parameter. */
export const flowViews = ['table', 'timeline'] as const;

/** Of the page of a flow run: how its steps are shown, and the opened one. */
export interface FlowRunSearch {
  steps?: (typeof flowViews)[number];
  step?: string;
}

export interface TimelineSearch {
  /** The forecast instead of runs and fires. */
  view?: 'forecast';
  group?: string;
  job?: string;
  status?: FireStatus;
  by?: 'worker';
  /** A length that follows the clock, or two fixed ends. */
  span?: string;
  from?: string;
  to?: string;
  /** Collapsed groups, separated by commas. */
  closed?: string;
  /** The shown day of the forecast, such as 2026-12-24. */
  day?: string;
}

/** Periods of a worker's load, which end now. */
export const loadRanges = ['6h', '24h', '3d'] as const;
export type LoadRange = (typeof loadRanges)[number];

export const notificationTabs = ['channels', 'deliveries', 'silent'] as const;
export type NotificationTab = (typeof notificationTabs)[number];

/** The shown list, and the filters of the deliveries. */
export interface NotificationSearch {
  tab?: NotificationTab | undefined;
  channel?: string | undefined;
  status?: DeliveryStatus | undefined;
  job?: string | undefined;
}
