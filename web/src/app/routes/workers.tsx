import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { root } from './root.tsx';

export const workers = createRoute({
  getParentRoute: () => root,
  path: '/workers',
  component: lazyRouteComponent(() => import('../../screens/workers/WorkersPage.tsx'), 'WorkersPage'),
});
