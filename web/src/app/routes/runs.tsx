import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { causes } from '../../api/jobRuns.ts';
import { statuses } from '../../api/runs.ts';
import type { Cause, RunStatus } from '../../api/types.ts';
import { flag } from '../../lib/address.ts';
import { root, text } from './root.tsx';

/** What is looked for in the output of runs. */
export interface OutputSearch {
  q?: string;
  job?: string;
  status?: RunStatus;
  regex?: true;
  case?: true;
}

export const runRanges = ['hour', 'day', 'week', 'custom'] as const;

/** What the list of runs is narrowed by. */
export interface RunSearch {
  job?: string;
  /** One status, or several with commas between them. */
  status?: string;
  worker?: string;
  cause?: Cause;
  range?: (typeof runRanges)[number];
  from?: string;
  to?: string;
  q?: string;
  exitCode?: string;
}

export const runs = createRoute({
  getParentRoute: () => root,
  path: '/runs',
  validateSearch: (search: Record<string, unknown>): RunSearch => ({
    job: text(search.job),
    status: text(search.status)?.split(',').filter((s) => statuses.includes(s as RunStatus)).join(',') || undefined,
    worker: text(search.worker),
    cause: causes.find((c) => c === search.cause),
    range: runRanges.find((r) => r === search.range),
    from: text(search.from),
    to: text(search.to),
    q: text(search.q),
    exitCode: text(search.exitCode),
  }),
  component: lazyRouteComponent(() => import('../../screens/runs/RunsPage.tsx'), 'RunsPage'),
});

/** How the output of a run is looked at. */
export interface LogSearchWanted {
  stream?: 'stdout' | 'stderr';
  find?: string;
  regex?: true;
  case?: true;
  full?: true;
}

export const run = createRoute({
  getParentRoute: () => root,
  path: '/runs/$id',
  validateSearch: (search: Record<string, unknown>): LogSearchWanted => ({
    stream: search.stream === 'stdout' || search.stream === 'stderr' ? search.stream : undefined,
    find: text(search.find),
    regex: flag(search.regex),
    case: flag(search.case),
    full: flag(search.full),
  }),
  component: lazyRouteComponent(() => import('../../screens/run/RunPage.tsx'), 'RunPage'),
});

export const search = createRoute({
  getParentRoute: () => root,
  path: '/search',
  validateSearch: (search: Record<string, unknown>): OutputSearch => ({
    q: text(search.q),
    job: text(search.job),
    status: statuses.find((s) => s === search.status),
    regex: flag(search.regex),
    case: flag(search.case),
  }),
  component: lazyRouteComponent(() => import('../../screens/search/SearchPage.tsx'), 'SearchPage'),
});
