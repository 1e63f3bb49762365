import { Button } from '@mantine/core';
import { useRef, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { useRerunOf, type RerunOrder } from '../../api/flowRuns.ts';
import { useJob } from '../../api/jobs.ts';
import type { Run } from '../../api/types.ts';
import { titled } from '../../lib/jobTitle.ts';
import { visible } from '../../lib/visible.ts';
import { ConfirmDialog } from '../../parts/ConfirmDialog.tsx';
import { Icon } from '../../parts/icons.tsx';
import { newKey } from '../../parts/runRequest.ts';
import { showFailure } from '../../parts/showFailure.ts';
import { showRunRequested } from '../../parts/showRunRequested.tsx';
import { showWarnings } from '../../parts/showWarnings.ts';
import { useRunNow } from '../../parts/useRunNow.tsx';
import { AgainDialog } from './AgainDialog.tsx';

interface Props {
  run: Run;
  disabled: boolean;
  variant?: 'filled' | 'default';
}

/**
 * Runs the fire of a run again, as its next attempt: at once with the same parameters, or with a dialog if the job takes
 * parameters or other jobs run after it. Nothing if the job is gone.
 */
export function RunAgain({ run, disabled, variant = 'default' }: Props) {
  const { t, i18n } = useTranslation();
  const job = useJob(run.job).data?.job;
  const again = useRerunOf(run.id);
  const { ask, dialog } = useRunNow();
  const sent = useRef<{ text: string; key: string } | undefined>(undefined);
  const [asking, setAsking] = useState(false);
  // As it is when a request ends.
  const isOpen = useRef(false);
  const show = (open: boolean) => {
    isOpen.current = open;
    setAsking(open);
  };
  if (!job) return null;
  const hasOptions = Object.keys(job.params ?? {}).length > 0 || (job.meta.children ?? []).length > 0;
  const request = (order: RerunOrder) => {
    // After an error the same request is repeated.
    const text = JSON.stringify(order);
    if (sent.current?.text !== text) sent.current = { text, key: newKey() };
    again.mutate({ order, key: sent.current.key }, {
      onSuccess: (accepted) => {
        sent.current = undefined;
        show(false);
        showRunRequested(t, job, accepted.run ?? '');
        showWarnings(t, i18n.language, accepted.warnings);
      },
      // A dialog that is open shows it beside its fields.
      onError: (error) => isOpen.current || showFailure(t, i18n.language, error),
    });
  };
  const open = () => {
    again.reset();
    show(true);
  };
  // A finger easily taps the wrong button.
  const start = () => (hasOptions || job.confirmRun || window.matchMedia('(pointer: coarse)').matches ? open() : request({}));
  return (
    <>
      <Button.Group>
        <Button variant={variant} leftSection={<Icon name="play" size={16} />} loading={again.isPending} disabled={disabled} title={hasOptions ? t('run.againText') : t('run.againHelp')} onClick={start}>{t(hasOptions ? 'run.againAsking' : 'run.again')}</Button>
        <Button variant={variant} px="xs" disabled={disabled} aria-label={t('run.againWith')} title={t('run.againWith')} onClick={() => ask(job, run.params)}>
          <Icon name="gear" size={16} />
        </Button>
      </Button.Group>
      {dialog}
      {asking && hasOptions && <AgainDialog job={job} given={run.params} busy={again.isPending} error={again.error} onChange={() => again.isError && again.reset()} onSubmit={request} onClose={() => show(false)} />}
      {asking && !hasOptions && (
        <ConfirmDialog
          title={t('runDialog.confirmTitle', { name: visible(titled(job)) })} confirm={t('run.again')} mild onCancel={() => show(false)}
          onConfirm={() => {
            show(false);
            request({});
          }}
        >
          {t('run.againHelp')}
        </ConfirmDialog>
      )}
    </>
  );
}
