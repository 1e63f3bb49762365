import { notifications } from '@mantine/notifications';
import { Link } from '@tanstack/react-router';
import type { TFunction } from 'i18next';
import type { Param } from '../api/types.ts';
import { titled } from '../lib/jobTitle.ts';
import { visible } from '../lib/visible.ts';

/** The properties of a job needed to run it. */
export interface Runnable {
  name: string;
  title?: string | undefined;
  params?: Record<string, Param> | undefined;
  /** The job asks before a manual run. */
  confirmRun?: boolean | undefined;
}

/** Shows that a run was requested, with a link to it. */
export function showRunRequested(t: TFunction, job: Runnable, run: string): void {
  notifications.show({
    withBorder: true,
    closeButtonProps: { 'aria-label': t('common.close') },
    message: (
      <>
        {t('jobs.runRequested', { name: visible(titled(job)) })} {run && <Link to="/runs/$id" params={{ id: run }}>{t('jobs.openRun')}</Link>}
      </>
    ),
  });
}
