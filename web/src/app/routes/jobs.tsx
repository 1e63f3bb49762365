import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { causes } from '../../api/jobRuns.ts';
import { statuses } from '../../api/runs.ts';
import { text, whole } from '../../lib/address.ts';
import { readJobFilter } from '../../lib/jobFilter.ts';
import { editorViews, jobTabs, statisticsRanges, type EditorView, type JobSearch } from '../../lib/searchParams.ts';
import { root } from './root.tsx';

export const jobs = createRoute({
  getParentRoute: () => root,
  path: '/jobs',
  validateSearch: readJobFilter,
  component: lazyRouteComponent(() => import('../../screens/jobs/JobsPage.tsx'), 'JobsPage'),
});

export const job = createRoute({
  getParentRoute: () => root,
  path: '/jobs/$name',
  validateSearch: (search: Record<string, unknown>): JobSearch => ({
    tab: jobTabs.find((tab) => tab === search.tab),
    view: search.view === 'list' ? 'list' : undefined,
    status: statuses.find((s) => s === search.status),
    cause: causes.find((c) => c === search.cause),
    range: statisticsRanges.find((range) => range === search.range),
    version: whole(search.version),
    with: whole(search.with),
    step: text(search.step),
    run: text(search.run),
  }),
  component: lazyRouteComponent(() => import('../../screens/job/JobPage.tsx'), 'JobPage'),
});

export const editJob = createRoute({
  getParentRoute: () => root,
  path: '/jobs/$name/edit',
  validateSearch: (search: Record<string, unknown>): { view?: EditorView; section?: string } => ({ view: editorViews.find((view) => view === search.view), section: text(search.section) }),
  component: lazyRouteComponent(() => import('../../screens/editor/EditorPage.tsx'), 'EditJobPage'),
});

// Not below /jobs, where any name may be a job's.
export const newJob = createRoute({
  getParentRoute: () => root,
  path: '/new/job',
  // The job to copy.
  validateSearch: (search: Record<string, unknown>): { from?: string; view?: EditorView } => ({ from: text(search.from), view: editorViews.find((view) => view === search.view) }),
  component: lazyRouteComponent(() => import('../../screens/editor/EditorPage.tsx'), 'NewJobPage'),
});
