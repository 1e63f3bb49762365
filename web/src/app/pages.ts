import type { Me } from '../api/types.ts';
import { reaches } from '../lib/rights.ts';
import type { IconName } from '../parts/icons.tsx';

interface Entry {
  id: string;
  to: string;
  icon: IconName;
  /** In the bottom bar of a phone. */
  atHand?: true;
  /** For editors in any group, or for global admins; absent for all. */
  only?: 'editors' | 'admins';
  /** Further words to find it by. */
  words?: readonly string[];
}

/** The console's pages in display order. */
export const pages = [
  { id: 'overview', to: '/', icon: 'gauge', atHand: true },
  { id: 'jobs', to: '/jobs', icon: 'list', atHand: true },
  { id: 'timeline', to: '/timeline', icon: 'timeline' },
  { id: 'runs', to: '/runs', icon: 'history', atHand: true },
  { id: 'ledger', to: '/ledger', icon: 'book' },
  { id: 'backfills', to: '/backfills', icon: 'undo', words: ['past', 'dates', 'missed', 'catch up'] },
  { id: 'workers', to: '/workers', icon: 'server' },
  { id: 'health', to: '/health', icon: 'pulse', words: ['doctor', 'diagnosis', 'etcd', 'masters'] },
  { id: 'notifications', to: '/notifications', icon: 'bell', words: ['channels', 'webhooks', 'mail', 'alerts', 'deliveries'] },
  { id: 'maintenance', to: '/maintenance', icon: 'calendar', words: ['windows', 'downtime', 'freeze', 'hold'] },
  { id: 'pools', to: '/pools', icon: 'pool', words: ['limit', 'concurrency', 'semaphore', 'slots'] },
  { id: 'defaults', to: '/defaults', icon: 'inherit', words: ['groups', 'inherit', 'retry', 'alerts', 'time zone'] },
  { id: 'locks', to: '/locks', icon: 'link', words: ['mutex', 'cronctl lock', 'leases'] },
  { id: 'secrets', to: '/secrets', icon: 'lock', only: 'editors', words: ['passwords', 'credentials'] },
  { id: 'access', to: '/access', icon: 'key', only: 'admins', words: ['users', 'tokens', 'sessions', 'audit'] },
] as const satisfies readonly Entry[];

export type Page = (typeof pages)[number] & Entry;

/** Returns the pages that a user can open. */
export function pagesFor(me: Pick<Me, 'role' | 'groups'>): readonly Page[] {
  return pages.filter(({ only }: Entry) => only === undefined || (only === 'admins' ? me.role === 'admin' : reaches(me, 'editor')));
}
