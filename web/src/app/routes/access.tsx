import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { text } from '../../lib/address.ts';
import { accessTabs, type AccessSearch } from '../../lib/searchParams.ts';
import { root } from './root.tsx';

export const access = createRoute({
  getParentRoute: () => root,
  path: '/access',
  validateSearch: (search: Record<string, unknown>): AccessSearch => ({
    tab: accessTabs.find((tab) => tab === search.tab),
    user: text(search.user),
    actor: text(search.actor),
    kind: text(search.kind),
    name: text(search.name),
    verb: text(search.verb),
    from: text(search.from),
    to: text(search.to),
  }),
  component: lazyRouteComponent(() => import('../../screens/access/AccessPage.tsx'), 'AccessPage'),
});

export const account = createRoute({
  getParentRoute: () => root,
  path: '/account',
  validateSearch: (search: Record<string, unknown>): { token?: 'new' } => (search.token === 'new' ? { token: 'new' } : {}),
  component: lazyRouteComponent(() => import('../../screens/access/AccountPage.tsx'), 'AccountPage'),
});
