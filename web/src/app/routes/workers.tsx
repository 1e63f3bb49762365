import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { text } from '../../lib/address.ts';
import { loadRanges, type LoadRange } from '../../lib/searchParams.ts';
import { root } from './root.tsx';

export const workers = createRoute({
  getParentRoute: () => root,
  path: '/workers',
  /** The worker whose runs are shown; and a selector whose labels the settings of a worker offer. */
  validateSearch: (search: Record<string, unknown>): { open?: string; label?: string } => ({ open: text(search.open), label: text(search.label) }),
  component: lazyRouteComponent(() => import('../../screens/workers/WorkersPage.tsx'), 'WorkersPage'),
});

export const worker = createRoute({
  getParentRoute: () => root,
  path: '/workers/$id',
  /** The range of the load; and a selector with whose labels the settings are opened. */
  validateSearch: (search: Record<string, unknown>): { range?: LoadRange; label?: string } => ({ range: loadRanges.find((range) => range === search.range), label: text(search.label) }),
  component: lazyRouteComponent(() => import('../../screens/workers/WorkerPage.tsx'), 'WorkerPage'),
});
