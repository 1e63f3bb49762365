import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { ranges, type StatisticsRange } from '../../api/statistics.ts';
import { root, text } from './root.tsx';

export const jobs = createRoute({
  getParentRoute: () => root,
  path: '/jobs',
  validateSearch: (search: Record<string, unknown>): { q?: string } => ({ q: text(search.q) }),
  component: lazyRouteComponent(() => import('../../screens/jobs/JobsPage.tsx'), 'JobsPage'),
});

export const job = createRoute({
  getParentRoute: () => root,
  path: '/jobs/$name',
  validateSearch: (search: Record<string, unknown>): { tab?: 'statistics'; range?: StatisticsRange } => ({
    tab: search.tab === 'statistics' ? 'statistics' : undefined,
    range: (Object.keys(ranges) as StatisticsRange[]).find((range) => range === search.range),
  }),
  component: lazyRouteComponent(() => import('../../screens/job/JobPage.tsx'), 'JobPage'),
});

export const editJob = createRoute({
  getParentRoute: () => root,
  path: '/jobs/$name/edit',
  component: lazyRouteComponent(() => import('../../screens/editor/EditorPage.tsx'), 'EditJobPage'),
});

// Not below /jobs, where a job may have any name.
export const newJob = createRoute({
  getParentRoute: () => root,
  path: '/new/job',
  component: lazyRouteComponent(() => import('../../screens/editor/EditorPage.tsx'), 'NewJobPage'),
});
