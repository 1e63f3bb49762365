import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { root, text } from './root.tsx';

export const workers = createRoute({
  getParentRoute: () => root,
  path: '/workers',
  /** The worker whose runs are shown. */
  validateSearch: (search: Record<string, unknown>): { open?: string } => ({ open: text(search.open) }),
  component: lazyRouteComponent(() => import('../../screens/workers/WorkersPage.tsx'), 'WorkersPage'),
});

/** How far back the load of a worker is shown. */
export const loadRanges = ['6h', '24h', '3d'] as const;
export type LoadRange = (typeof loadRanges)[number];

export const worker = createRoute({
  getParentRoute: () => root,
  path: '/workers/$id',
  validateSearch: (search: Record<string, unknown>): { range?: LoadRange } => ({ range: loadRanges.find((range) => range === search.range) }),
  component: lazyRouteComponent(() => import('../../screens/workers/WorkerPage.tsx'), 'WorkerPage'),
});
