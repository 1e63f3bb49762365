import { notifications } from '@mantine/notifications';
import { useCallback, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { useRunJob } from '../api/jobs.ts';
import { visible } from '../lib/visible.ts';
import { problemText } from './problemText.ts';
import { RunDialog } from './RunDialog.tsx';
import { sayRequested, type Runnable } from './sayRequested.tsx';

/** Asks for a run of a job: at once, or by way of a dialog where the job takes parameters or options are wanted. The dialog is to be shown by the caller. */
export function useRunNow() {
  const { t, i18n } = useTranslation();
  const runJob = useRunJob();
  const [asking, setAsking] = useState<{ job: Runnable; given: Record<string, string> } | undefined>();
  const { mutate } = runJob;
  // Both stay the same from render to render: tables make their cells of them, and what is open in a cell closes with it.
  const ask = useCallback((job: Runnable, given: Record<string, string> = {}) => setAsking({ job, given }), []);
  const run = useCallback((job: Runnable, given?: Record<string, string>) => {
    if (Object.keys(job.params ?? {}).length > 0) return ask(job, given);
    mutate(
      { name: job.name, request: {} },
      {
        onSuccess: ({ run }) => sayRequested(t, job.name, run),
        onError: (error) =>
          notifications.show({
            withBorder: true, color: 'red', title: t('problem.title'), message: visible(problemText(t, i18n.language, error).text),
            closeButtonProps: { 'aria-label': t('common.close') },
          }),
      },
    );
  }, [ask, mutate, t, i18n.language]);
  return {
    isPending: runJob.isPending,
    ask,
    run,
    dialog: asking && <RunDialog job={asking.job} given={asking.given} onClose={() => setAsking(undefined)} />,
  };
}
