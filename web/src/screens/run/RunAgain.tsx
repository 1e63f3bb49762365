import { Button } from '@mantine/core';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { useRerunOf } from '../../api/failures.ts';
import { useJob } from '../../api/jobs.ts';
import type { Run } from '../../api/types.ts';
import { titled } from '../../lib/jobTitle.ts';
import { visible } from '../../lib/visible.ts';
import { ConfirmDialog } from '../../parts/ConfirmDialog.tsx';
import { Icon } from '../../parts/icons.tsx';
import { newKey } from '../../parts/runRequest.ts';
import { showFailure } from '../../parts/showFailure.ts';
import { showRunRequested } from '../../parts/showRunRequested.tsx';
import { useRunNow } from '../../parts/useRunNow.tsx';

interface Props {
  run: Run;
  disabled: boolean;
  variant?: 'filled' | 'default';
}

/**
 * Runs the fire of a run again, as its next attempt with the same parameters; other parameters are those of a new run.
 * Nothing if the job is gone.
 */
export function RunAgain({ run, disabled, variant = 'default' }: Props) {
  const { t, i18n } = useTranslation();
  const job = useJob(run.job).data?.job;
  const again = useRerunOf(run.id);
  const { ask, dialog } = useRunNow();
  const [key, setKey] = useState(newKey);
  const [confirming, setConfirming] = useState(false);
  if (!job) return null;
  const request = () => {
    setConfirming(false);
    // After an error the same request is repeated.
    again.mutate(key, {
      onSuccess: (accepted) => {
        setKey(newKey());
        showRunRequested(t, job, accepted.run ?? '');
      },
      onError: (error) => showFailure(t, i18n.language, error),
    });
  };
  // A finger easily taps the wrong button.
  const start = () => (job.confirmRun || window.matchMedia('(pointer: coarse)').matches ? setConfirming(true) : request());
  return (
    <>
      <Button.Group>
        <Button variant={variant} leftSection={<Icon name="play" size={16} />} loading={again.isPending} disabled={disabled} title={t('run.againHelp')} onClick={start}>{t('run.again')}</Button>
        <Button variant={variant} px="xs" disabled={disabled} aria-label={t('run.againWith')} title={t('run.againWith')} onClick={() => ask(job, run.params)}>
          <Icon name="gear" size={16} />
        </Button>
      </Button.Group>
      {dialog}
      {confirming && (
        <ConfirmDialog title={t('runDialog.confirmTitle', { name: visible(titled(job)) })} confirm={t('run.again')} mild onCancel={() => setConfirming(false)} onConfirm={request}>
          {t('run.againHelp')}
        </ConfirmDialog>
      )}
    </>
  );
}
