import type { IconName } from '../parts/icons.tsx';

/** The console's pages in display order. */
export const pages = [
  { id: 'overview', to: '/', icon: 'gauge', atHand: true, admin: false },
  { id: 'jobs', to: '/jobs', icon: 'list', atHand: true, admin: false },
  { id: 'timeline', to: '/timeline', icon: 'timeline', atHand: false, admin: false },
  { id: 'runs', to: '/runs', icon: 'history', atHand: true, admin: false },
  { id: 'ledger', to: '/ledger', icon: 'book', atHand: false, admin: false },
  { id: 'workers', to: '/workers', icon: 'server', atHand: false, admin: false },
  { id: 'access', to: '/access', icon: 'key', atHand: false, admin: true },
] as const satisfies readonly { id: string; to: string; icon: IconName; /** In the bottom bar of a phone. */ atHand: boolean; /** For global admins only. */ admin: boolean }[];

export type Page = (typeof pages)[number];

/** Returns the pages that a user with this global role can open. */
export function pagesFor(role: string | undefined): readonly Page[] {
  return pages.filter((page) => !page.admin || role === 'admin');
}
