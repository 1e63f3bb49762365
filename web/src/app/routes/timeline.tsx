import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { fireStatuses } from '../../api/fires.ts';
import type { FireStatus } from '../../api/types.ts';
import { root, text } from './root.tsx';

/** What of the timeline is looked at. */
export interface TimelineSearch {
  /** The forecast instead of runs and fires. */
  view?: 'forecast';
  group?: string;
  job?: string;
  status?: FireStatus;
  by?: 'worker';
  /** A length that follows the clock, or two fixed ends. */
  span?: string;
  from?: string;
  to?: string;
  /** Groups that are closed, by commas. */
  closed?: string;
  /** The day of the forecast that is looked at, 2026-12-24. */
  day?: string;
}

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
