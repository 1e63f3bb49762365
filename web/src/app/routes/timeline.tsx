import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { root } from './root.tsx';

export const timeline = createRoute({
  getParentRoute: () => root,
  path: '/timeline',
  component: lazyRouteComponent(() => import('../../screens/timeline/TimelinePage.tsx'), 'TimelinePage'),
});
