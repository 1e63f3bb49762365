import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { causes } from '../../api/jobRuns.ts';
import { statuses } from '../../api/runs.ts';
import { ranges, type StatisticsRange } from '../../api/statistics.ts';
import type { Cause, RunStatus } from '../../api/types.ts';
import { whole } from '../../lib/address.ts';
import { readJobFilter } from '../../lib/jobFilter.ts';
import { root, text } from './root.tsx';

export const jobs = createRoute({
  getParentRoute: () => root,
  path: '/jobs',
  validateSearch: readJobFilter,
  component: lazyRouteComponent(() => import('../../screens/jobs/JobsPage.tsx'), 'JobsPage'),
});

/** The parts of a job's page, beside its runs, which come first. */
export const jobTabs = ['ledger', 'statistics', 'versions', 'definition'] as const;

/** What of a job is looked at. */
export interface JobSearch {
  tab?: (typeof jobTabs)[number];
  /** Its runs as a list, not as a grid. */
  view?: 'list';
  status?: RunStatus;
  cause?: Cause;
  range?: StatisticsRange;
  /** A version, and the one to compare it with. */
  version?: number;
  with?: number;
}

export const job = createRoute({
  getParentRoute: () => root,
  path: '/jobs/$name',
  validateSearch: (search: Record<string, unknown>): JobSearch => ({
    tab: jobTabs.find((tab) => tab === search.tab),
    view: search.view === 'list' ? 'list' : undefined,
    status: statuses.find((s) => s === search.status),
    cause: causes.find((c) => c === search.cause),
    range: (Object.keys(ranges) as StatisticsRange[]).find((range) => range === search.range),
    version: whole(search.version),
    with: whole(search.with),
  }),
  component: lazyRouteComponent(() => import('../../screens/job/JobPage.tsx'), 'JobPage'),
});

/** How a job is edited: in the form, as YAML, or both side by side. */
export const editorViews = ['form', 'both', 'yaml'] as const;
export type EditorView = (typeof editorViews)[number];

export const editJob = createRoute({
  getParentRoute: () => root,
  path: '/jobs/$name/edit',
  validateSearch: (search: Record<string, unknown>): { view?: EditorView } => ({ view: editorViews.find((view) => view === search.view) }),
  component: lazyRouteComponent(() => import('../../screens/editor/EditorPage.tsx'), 'EditJobPage'),
});

// Not below /jobs, where a job may have any name.
export const newJob = createRoute({
  getParentRoute: () => root,
  path: '/new/job',
  // The job that it begins as a copy of.
  validateSearch: (search: Record<string, unknown>): { from?: string; view?: EditorView } => ({ from: text(search.from), view: editorViews.find((view) => view === search.view) }),
  component: lazyRouteComponent(() => import('../../screens/editor/EditorPage.tsx'), 'NewJobPage'),
});
