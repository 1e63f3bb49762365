import { createRootRoute, createRoute, createRouter, lazyRouteComponent, redirect, type ErrorComponentProps } from '@tanstack/react-router';
import { fireStatuses } from '../api/fires.ts';
import { statuses } from '../api/runs.ts';
import type { FireStatus, RunStatus } from '../api/types.ts';
import { BrokenPage } from './BrokenPage.tsx';
import { NotFoundPage } from './NotFoundPage.tsx';
import { Shell } from './Shell.tsx';

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
  validateSearch: (search: Record<string, unknown>): { job?: string; status?: RunStatus } => ({
    job: text(search.job),
    status: statuses.find((s) => s === search.status),
  }),
  component: lazyRouteComponent(() => import('../screens/runs/RunsPage.tsx'), 'RunsPage'),
});

const run = createRoute({
  getParentRoute: () => root,
  path: '/runs/$id',
  component: lazyRouteComponent(() => import('../screens/run/RunPage.tsx'), 'RunPage'),
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

const routeTree = root.addChildren([index, jobs, job, editJob, newJob, runs, run, ledger, workers]);

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
