import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { causes } from '../../api/jobRuns.ts';
import { statuses } from '../../api/runs.ts';
import type { RunStatus } from '../../api/types.ts';
import { flag, text } from '../../lib/address.ts';
import { flowViews, runRanges, type FlowRunSearch, type LogSearch, type OutputSearch, type RunSearch } from '../../lib/searchParams.ts';
import { root } from './root.tsx';

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
    flowRun: text(search.flowRun),
  }),
  component: lazyRouteComponent(() => import('../../screens/runs/RunsPage.tsx'), 'RunsPage'),
});

export const run = createRoute({
  getParentRoute: () => root,
  path: '/runs/$id',
  validateSearch: (search: Record<string, unknown>): LogSearch & FlowRunSearch => ({
    steps: flowViews.find((view) => view === search.steps),
    step: text(search.step),
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
    group: text(search.group),
    worker: text(search.worker),
    range: runRanges.find((r) => r === search.range),
    from: text(search.from),
    to: text(search.to),
  }),
  component: lazyRouteComponent(() => import('../../screens/search/SearchPage.tsx'), 'SearchPage'),
});
