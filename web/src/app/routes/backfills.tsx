import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { statuses } from '../../api/runs.ts';
import type { RunStatus } from '../../api/types.ts';
import { root } from './root.tsx';

export const backfills = createRoute({
  getParentRoute: () => root,
  path: '/backfills',
  component: lazyRouteComponent(() => import('../../screens/job/BackfillsPage.tsx'), 'BackfillsPage'),
});

export const backfill = createRoute({
  getParentRoute: () => root,
  path: '/backfills/$id',
  /** Of its dates only those with a status. */
  validateSearch: (search: Record<string, unknown>): { status?: RunStatus | undefined } => ({ status: statuses.find((s) => s === search.status) }),
  component: lazyRouteComponent(() => import('../../screens/job/BackfillPage.tsx'), 'BackfillPage'),
});
