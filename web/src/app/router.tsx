import { createRootRoute, createRoute, createRouter, lazyRouteComponent, redirect, type ErrorComponentProps } from '@tanstack/react-router';
import { fireStatuses } from '../api/fires.ts';
import { statuses } from '../api/runs.ts';
import { ranges, type StatisticsRange } from '../api/statistics.ts';
import type { FireStatus, RunStatus } from '../api/types.ts';
import { BrokenPage } from './BrokenPage.tsx';
import { NotFoundPage } from './NotFoundPage.tsx';
import { Shell } from './Shell.tsx';

/** What is looked for in the output of runs. */
export interface OutputSearch {
  q?: string;
  job?: string;
  status?: RunStatus;
  regex?: true;
  case?: true;
}

/** What the list of runs is narrowed by. */
export interface RunSearch {
  job?: string;
  status?: RunStatus;
  q?: string;
  exitCode?: string;
}

const text = (value: unknown): string | undefined => (typeof value === 'string' || typeof value === 'number') && value !== '' ? String(value) : undefined;

const root = createRootRoute({ component: Shell, notFoundComponent: NotFoundPage });

const index = createRoute({
  getParentRoute: () => root,
  path: '/',
  beforeLoad: () => {
    throw redirect({ to: '/jobs', replace: true });
  },
});

const jobs = createRoute({
  getParentRoute: () => root,
  path: '/jobs',
  validateSearch: (search: Record<string, unknown>): { q?: string } => ({ q: text(search.q) }),
  component: lazyRouteComponent(() => import('../screens/jobs/JobsPage.tsx'), 'JobsPage'),
});

const job = createRoute({
  getParentRoute: () => root,
  path: '/jobs/$name',
  validateSearch: (search: Record<string, unknown>): { tab?: 'statistics'; range?: StatisticsRange } => ({
    tab: search.tab === 'statistics' ? 'statistics' : undefined,
    range: (Object.keys(ranges) as StatisticsRange[]).find((range) => range === search.range),
  }),
  component: lazyRouteComponent(() => import('../screens/job/JobPage.tsx'), 'JobPage'),
});

const editJob = createRoute({
  getParentRoute: () => root,
  path: '/jobs/$name/edit',
  component: lazyRouteComponent(() => import('../screens/editor/EditorPage.tsx'), 'EditJobPage'),
});

// Not below /jobs, where a job may have any name.
const newJob = createRoute({
  getParentRoute: () => root,
  path: '/new/job',
  component: lazyRouteComponent(() => import('../screens/editor/EditorPage.tsx'), 'NewJobPage'),
});

const runs = createRoute({
  getParentRoute: () => root,
  path: '/runs',
  validateSearch: (search: Record<string, unknown>): RunSearch => ({
    job: text(search.job),
    status: statuses.find((s) => s === search.status),
    q: text(search.q),
    exitCode: text(search.exitCode),
  }),
  component: lazyRouteComponent(() => import('../screens/runs/RunsPage.tsx'), 'RunsPage'),
});

const run = createRoute({
  getParentRoute: () => root,
  path: '/runs/$id',
  component: lazyRouteComponent(() => import('../screens/run/RunPage.tsx'), 'RunPage'),
});

const search = createRoute({
  getParentRoute: () => root,
  path: '/search',
  validateSearch: (search: Record<string, unknown>): OutputSearch => ({
    q: text(search.q),
    job: text(search.job),
    status: statuses.find((s) => s === search.status),
    regex: search.regex === true ? true : undefined,
    case: search.case === true ? true : undefined,
  }),
  component: lazyRouteComponent(() => import('../screens/search/SearchPage.tsx'), 'SearchPage'),
});

const ledger = createRoute({
  getParentRoute: () => root,
  path: '/ledger',
  validateSearch: (search: Record<string, unknown>): { job?: string; status?: FireStatus; range?: string; from?: string; to?: string } => ({
    job: text(search.job),
    status: fireStatuses.find((s) => s === search.status),
    range: text(search.range),
    from: text(search.from),
    to: text(search.to),
  }),
  component: lazyRouteComponent(() => import('../screens/ledger/LedgerPage.tsx'), 'LedgerPage'),
});

const workers = createRoute({
  getParentRoute: () => root,
  path: '/workers',
  component: lazyRouteComponent(() => import('../screens/workers/WorkersPage.tsx'), 'WorkersPage'),
});

const routeTree = root.addChildren([index, jobs, job, editJob, newJob, runs, run, search, ledger, workers]);

export function createConsoleRouter() {
  return createRouter({
    routeTree,
    defaultPreload: 'intent',
    defaultErrorComponent: ({ error }: ErrorComponentProps) => <BrokenPage error={error} />,
  });
}

declare module '@tanstack/react-router' {
  interface Register {
    router: ReturnType<typeof createConsoleRouter>;
  }
}
