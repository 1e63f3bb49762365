import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { fireChoices, type FireChoice } from '../../api/fires.ts';
import { text } from '../../lib/address.ts';
import { root } from './root.tsx';

export const ledger = createRoute({
  getParentRoute: () => root,
  path: '/ledger',
  validateSearch: (search: Record<string, unknown>): { job?: string; group?: string; status?: string; range?: string; from?: string; to?: string; open?: string } => ({
    job: text(search.job),
    group: text(search.group),
    status: text(search.status)?.split(',').filter((s) => fireChoices.includes(s as FireChoice)).join(',') || undefined,
    range: text(search.range),
    from: text(search.from),
    to: text(search.to),
    open: text(search.open) === undefined ? undefined : '1',
  }),
  component: lazyRouteComponent(() => import('../../screens/ledger/LedgerPage.tsx'), 'LedgerPage'),
});
