import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { deliveryStatuses } from '../../api/channels.ts';
import { text } from '../../lib/address.ts';
import { isName } from '../../lib/names.ts';
import { notificationTabs, type NotificationSearch } from '../../lib/searchParams.ts';
import { root } from './root.tsx';

/** A name from the address; others would be refused by the server. */
function name(value: unknown): string | undefined {
  const given = text(value);
  return given !== undefined && isName(given) ? given : undefined;
}

export const notifications = createRoute({
  getParentRoute: () => root,
  path: '/notifications',
  validateSearch: (search: Record<string, unknown>): NotificationSearch => ({
    tab: notificationTabs.find((tab) => tab === search.tab),
    channel: name(search.channel),
    status: deliveryStatuses.find((status) => status === search.status),
    job: name(search.job),
  }),
  component: lazyRouteComponent(() => import('../../screens/notifications/NotificationsPage.tsx'), 'NotificationsPage'),
});

export const secrets = createRoute({
  getParentRoute: () => root,
  path: '/secrets',
  component: lazyRouteComponent(() => import('../../screens/secrets/SecretsPage.tsx'), 'SecretsPage'),
});

export const maintenance = createRoute({
  getParentRoute: () => root,
  path: '/maintenance',
  component: lazyRouteComponent(() => import('../../screens/maintenance/MaintenancePage.tsx'), 'MaintenancePage'),
});

export const pools = createRoute({
  getParentRoute: () => root,
  path: '/pools',
  validateSearch: (search): { pool?: string | undefined } => ({ pool: typeof search.pool === 'string' ? search.pool : undefined }),
  component: lazyRouteComponent(() => import('../../screens/pools/PoolsPage.tsx'), 'PoolsPage'),
});

export const locks = createRoute({
  getParentRoute: () => root,
  path: '/locks',
  component: lazyRouteComponent(() => import('../../screens/locks/LocksPage.tsx'), 'LocksPage'),
});

export const health = createRoute({
  getParentRoute: () => root,
  path: '/health',
  component: lazyRouteComponent(() => import('../../screens/health/HealthPage.tsx'), 'HealthPage'),
});
