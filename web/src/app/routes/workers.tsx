import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { text } from '../../lib/address.ts';
import { loadRanges, type LoadRange } from '../../lib/searchParams.ts';
import { root } from './root.tsx';

export const workers = createRoute({
  getParentRoute: () => root,
  path: '/workers',
  /** The worker whose runs are shown. */
  validateSearch: (search: Record<string, unknown>): { open?: string } => ({ open: text(search.open) }),
  component: lazyRouteComponent(() => import('../../screens/workers/WorkersPage.tsx'), 'WorkersPage'),
});

export const worker = createRoute({
  getParentRoute: () => root,
  path: '/workers/$id',
  validateSearch: (search: Record<string, unknown>): { range?: LoadRange } => ({ range: loadRanges.find((range) => range === search.range) }),
  component: lazyRouteComponent(() => import('../../screens/workers/WorkerPage.tsx'), 'WorkerPage'),
});
