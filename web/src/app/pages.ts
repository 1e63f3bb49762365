import type { IconName } from '../parts/icons.tsx';

/** The console's pages, in the order in which they are listed everywhere. */
export const pages = [
  { id: 'overview', to: '/', icon: 'gauge', atHand: true, admin: false },
  { id: 'jobs', to: '/jobs', icon: 'list', atHand: true, admin: false },
  { id: 'timeline', to: '/timeline', icon: 'timeline', atHand: false, admin: false },
  { id: 'runs', to: '/runs', icon: 'history', atHand: true, admin: false },
  { id: 'ledger', to: '/ledger', icon: 'book', atHand: false, admin: false },
  { id: 'workers', to: '/workers', icon: 'server', atHand: false, admin: false },
  { id: 'access', to: '/access', icon: 'key', atHand: false, admin: true },
] as const satisfies readonly { id: string; to: string; icon: IconName; /** Shown on a phone without a further step. */ atHand: boolean; /** Only for admins everywhere. */ admin: boolean }[];

export type Page = (typeof pages)[number];

/** The pages that a user with this role everywhere can open. */
export function pagesFor(role: string | undefined): readonly Page[] {
  return pages.filter((page) => !page.admin || role === 'admin');
}
