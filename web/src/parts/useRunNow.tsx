import { notifications } from '@mantine/notifications';
import { Link } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { useRunJob } from '../api/jobs.ts';
import { visible } from '../lib/visible.ts';
import { problemText } from './problemText.ts';

/** Asks for a run of a job, and says what came of it, with the way to the run. */
export function useRunNow() {
  const { t, i18n } = useTranslation();
  const runJob = useRunJob();
  return {
    isPending: runJob.isPending,
    run: (name: string) =>
      runJob.mutate(name, {
        onSuccess: ({ run }) =>
          notifications.show({
            withBorder: true,
            closeButtonProps: { 'aria-label': t('common.close') },
            message: (
              <>
                {t('jobs.runRequested', { name })} {run && <Link to="/runs/$id" params={{ id: run }}>{t('jobs.openRun')}</Link>}
              </>
            ),
          }),
        onError: (error) =>
          notifications.show({
            withBorder: true, color: 'red', title: t('problem.title'), message: visible(problemText(t, i18n.language, error).text),
            closeButtonProps: { 'aria-label': t('common.close') },
          }),
      }),
  };
}
