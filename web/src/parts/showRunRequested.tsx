import { notifications } from '@mantine/notifications';
import { Link } from '@tanstack/react-router';
import type { TFunction } from 'i18next';
import type { Param } from '../api/types.ts';

/** The properties of a job needed to run it. */
export interface Runnable {
  name: string;
  params?: Record<string, Param> | undefined;
}

/** Shows that a run was requested, with a link to it. */
export function showRunRequested(t: TFunction, name: string, run: string): void {
  notifications.show({
    withBorder: true,
    closeButtonProps: { 'aria-label': t('common.close') },
    message: (
      <>
        {t('jobs.runRequested', { name })} {run && <Link to="/runs/$id" params={{ id: run }}>{t('jobs.openRun')}</Link>}
      </>
    ),
  });
}
