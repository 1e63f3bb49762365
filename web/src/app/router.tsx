import { createRouter, type ErrorComponentProps } from '@tanstack/react-router';
import { readAddress, writeAddress } from '../lib/address.ts';
import { BrokenPage } from './BrokenPage.tsx';
import { access, account } from './routes/access.tsx';
import { backfill, backfills } from './routes/backfills.tsx';
import { editJob, job, jobs, newJob } from './routes/jobs.tsx';
import { guide, guidePage } from './routes/guide.tsx';
import { ledger } from './routes/ledger.tsx';
import { defaults, editDefaults, health, locks, maintenance, notifications, pools, secrets } from './routes/notifications.tsx';
import { overview } from './routes/overview.tsx';
import { root } from './routes/root.tsx';
import { run, runs, search } from './routes/runs.tsx';
import { timeline } from './routes/timeline.tsx';
import { worker, workers } from './routes/workers.tsx';

const routeTree = root.addChildren([overview, jobs, job, editJob, newJob, runs, run, search, backfills, backfill, ledger, timeline, workers, worker, notifications, maintenance, locks, pools, defaults, editDefaults, secrets, health, guide, guidePage, access, account]);

/** Creates the router. The texts of a page are loaded before it is shown. */
export function createConsoleRouter(loadTexts: () => Promise<void>) {
  return createRouter({
    routeTree,
    context: { loadTexts },
    parseSearch: readAddress,
    stringifySearch: writeAddress,
    defaultPreload: 'intent',
    scrollRestoration: true,
    defaultErrorComponent: ({ error }: ErrorComponentProps) => <BrokenPage error={error} />,
  });
}

declare module '@tanstack/react-router' {
  interface Register {
    router: ReturnType<typeof createConsoleRouter>;
  }
}
