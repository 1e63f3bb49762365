import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { root } from './root.tsx';

const component = lazyRouteComponent(() => import('../../screens/guide/GuidePage.tsx'), 'GuidePage');

export const guide = createRoute({ getParentRoute: () => root, path: '/guide', component });

export const guidePage = createRoute({ getParentRoute: () => root, path: '/guide/$', component });
