import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { root, text } from './root.tsx';

export const accessTabs = ['users', 'tokens', 'sessions', 'audit'] as const;
export type AccessTab = (typeof accessTabs)[number];

/** Which list is shown, and what it is narrowed by: tokens by their user, the audit by all the rest. */
export interface AccessSearch {
  tab?: AccessTab;
  user?: string;
  actor?: string;
  kind?: string;
  name?: string;
  verb?: string;
  from?: string;
  to?: string;
}

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
  component: lazyRouteComponent(() => import('../../screens/access/AccountPage.tsx'), 'AccountPage'),
});
