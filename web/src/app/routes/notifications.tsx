import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { deliveryStatuses } from '../../api/channels.ts';
import { text } from '../../lib/address.ts';
import { allGroups, isGroup } from '../../lib/groups.ts';
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

/** The group of defaults in an address. */
const ofDefaults = (value: unknown) => {
  const group = text(value);
  return group !== undefined && (group === allGroups || isGroup(group)) ? group : undefined;
};

export const defaults = createRoute({
  getParentRoute: () => root,
  path: '/defaults',
  validateSearch: (search: Record<string, unknown>): { group?: string | undefined } => ({ group: ofDefaults(search.group) }),
  component: lazyRouteComponent(() => import('../../screens/defaults/DefaultsPage.tsx'), 'DefaultsPage'),
});

export const editDefaults = createRoute({
  getParentRoute: () => root,
  path: '/defaults/edit',
  validateSearch: (search: Record<string, unknown>): { group?: string | undefined; section?: string | undefined } => ({ group: ofDefaults(search.group), section: text(search.section) }),
  component: lazyRouteComponent(() => import('../../screens/editor/DefaultsEditor.tsx'), 'DefaultsEditorPage'),
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
