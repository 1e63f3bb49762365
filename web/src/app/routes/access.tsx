import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { root } from './root.tsx';

export const access = createRoute({
  getParentRoute: () => root,
  path: '/access',
  component: lazyRouteComponent(() => import('../../screens/access/AccessPage.tsx'), 'AccessPage'),
});
