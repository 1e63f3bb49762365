import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { root } from './root.tsx';

export const overview = createRoute({
  getParentRoute: () => root,
  path: '/',
  component: lazyRouteComponent(() => import('../../screens/overview/OverviewPage.tsx'), 'OverviewPage'),
});
