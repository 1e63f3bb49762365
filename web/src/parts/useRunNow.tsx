import { useCallback, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { useRunJob } from '../api/jobs.ts';
import { titled } from '../lib/jobTitle.ts';
import { visible } from '../lib/visible.ts';
import { ConfirmDialog } from './ConfirmDialog.tsx';
import { RunDialog } from './RunDialog.tsx';
import { newKey } from './runRequest.ts';
import { runRequests } from './runRequests.ts';
import { showFailure } from './showFailure.ts';
import { showRunRequested, type Runnable } from './showRunRequested.tsx';

/**
 * Requests a run of a job: at once, or with a dialog if the job takes parameters, asks before a manual run, or options
 * are requested. On a touch screen it always asks. The caller renders the dialog.
 */
export function useRunNow() {
  const { t, i18n } = useTranslation();
  const runJob = useRunJob();
  const [asking, setAsking] = useState<{ job: Runnable; given: Record<string, string> } | undefined>();
  const [confirming, setConfirming] = useState<Runnable | undefined>();
  const [asked] = useState(() => runRequests(newKey));
  const { mutateAsync } = runJob;
  // Both are stable between renders: table cells depend on them, and a new cell would close its open menu.
  const ask = useCallback((job: Runnable, given: Record<string, string> = {}) => setAsking({ job, given }), []);
  const request = useCallback((job: Runnable) => {
    const key = asked.begin(job.name, Date.now());
    if (key === undefined) return;
    // Several jobs may be requested at once, and the result of each is shown.
    mutateAsync({ name: job.name, request: {}, key }).then(
      ({ run }) => {
        asked.answered(job.name);
        showRunRequested(t, job, run);
      },
      (error: Error) => {
        asked.failed(job.name);
        showFailure(t, i18n.language, error);
      },
    );
  }, [asked, mutateAsync, t, i18n.language]);
  const run = useCallback((job: Runnable, given?: Record<string, string>) => {
    if (Object.keys(job.params ?? {}).length > 0) return ask(job, given);
    // A finger easily taps the wrong button.
    if (job.confirmRun || window.matchMedia('(pointer: coarse)').matches) return setConfirming(job);
    request(job);
  }, [ask, request]);
  return {
    isPending: runJob.isPending,
    ask,
    run,
    dialog: asking ? <RunDialog job={asking.job} given={asking.given} onClose={() => setAsking(undefined)} /> : confirming && (
      <ConfirmDialog
        title={t('runDialog.confirmTitle', { name: visible(titled(confirming)) })} confirm={t('jobs.run')} mild onCancel={() => setConfirming(undefined)}
        onConfirm={() => {
          setConfirming(undefined);
          request(confirming);
        }}
      >
        {t('runDialog.confirmText')}
      </ConfirmDialog>
    ),
  };
}
