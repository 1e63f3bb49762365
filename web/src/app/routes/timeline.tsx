import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { fireStatuses } from '../../api/fires.ts';
import { text } from '../../lib/address.ts';
import type { TimelineSearch } from '../../lib/searchParams.ts';
import { root } from './root.tsx';

export const timeline = createRoute({
  getParentRoute: () => root,
  path: '/timeline',
  validateSearch: (search: Record<string, unknown>): TimelineSearch => ({
    view: search.view === 'forecast' ? 'forecast' : undefined,
    group: text(search.group),
    job: text(search.job),
    status: fireStatuses.find((s) => s === search.status),
    by: search.by === 'worker' ? 'worker' : undefined,
    span: text(search.span),
    from: text(search.from),
    to: text(search.to),
    closed: text(search.closed),
    day: text(search.day),
  }),
  component: lazyRouteComponent(() => import('../../screens/timeline/TimelinePage.tsx'), 'TimelinePage'),
});
