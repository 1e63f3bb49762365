import { Stack, Textarea } from '@mantine/core';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { useJob } from '../api/jobs.ts';
import { useKillRun } from '../api/runs.ts';
import { visible } from '../lib/visible.ts';
import { ConfirmDialog } from './ConfirmDialog.tsx';
import { say } from './say.ts';

interface Props {
  id: string;
  job: string;
  /** It has not started: it is cancelled. */
  waits?: boolean;
  onClose: () => void;
}

/** Asks before a run is killed, and says what that does. */
export function KillDialog({ id, job, waits = false, onClose }: Props) {
  const { t } = useTranslation();
  const kill = useKillRun();
  const [note, setNote] = useState('');
  const grace = useJob(job, { enabled: !waits }).data?.job.killGrace ?? '10s';
  const confirm = () =>
    kill.mutate({ id, note: note.trim() }, {
      onSuccess: () => {
        say(t, waits ? t('kill.cancelled') : t('kill.sent'));
        onClose();
      },
    });
  return (
    <ConfirmDialog
      title={t(waits ? 'kill.cancelTitle' : 'kill.title', { job: visible(job) })} confirm={waits ? t('kill.cancel') : t('kill.confirm')} cancel={t('kill.leave')} busy={kill.isPending} error={kill.error}
      onConfirm={confirm} onCancel={onClose}
    >
      <Stack gap="md">
        <div>{waits ? t('kill.cancelText') : t('kill.text', { grace: visible(grace) })}</div>
        <Textarea label={t('kill.note')} description={t('kill.noteHelp')} autosize minRows={1} maxRows={4} maxLength={500} value={note} onChange={(e) => setNote(e.currentTarget.value)} />
      </Stack>
    </ConfirmDialog>
  );
}
