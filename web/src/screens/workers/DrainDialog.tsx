import { Alert, Textarea } from '@mantine/core';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { Worker } from '../../api/types.ts';
import { useChangeWorker, useWorkers } from '../../api/workers.ts';
import { visible } from '../../lib/visible.ts';
import { workerState } from '../../lib/workerState.ts';
import { ConfirmDialog } from '../../parts/ConfirmDialog.tsx';
import { Icon } from '../../parts/icons.tsx';
import { showNotice } from '../../parts/showNotice.ts';

/** Asks before a worker is drained or resumed, and describes the effect. */
export function DrainDialog({ worker, onClose }: { worker: Worker; onClose: () => void }) {
  const { t } = useTranslation();
  const change = useChangeWorker();
  const [note, setNote] = useState('');
  const workers = useWorkers().data?.items;
  const only = workers !== undefined && !workers.some((other) => other.id !== worker.id && workerState(other) === 'ready');
  const name = visible(worker.name || worker.id);
  const drained = worker.settings?.drain === true;
  const confirm = () =>
    change.mutate(
      { id: worker.id, change: drained ? { act: 'undrain' } : { act: 'drain', note: note.trim() || undefined } },
      {
        onSuccess: () => {
          showNotice(t, t(drained ? 'workers.undrained' : 'workers.drained', { name }));
          onClose();
        },
      },
    );
  return (
    <ConfirmDialog
      title={t(drained ? 'workers.undrainTitle' : 'workers.drainTitle', { name })} confirm={t(drained ? 'workers.undrain' : 'workers.drain')} mild
      busy={change.isPending} error={change.error} onConfirm={confirm} onCancel={onClose}
    >
      {drained ? (
        <p>{t('workers.undrainText')}</p>
      ) : (
        <>
          <p>{t('workers.drainText', { count: worker.running })}</p>
          {!only && <p>{t('workers.drainOthers')}</p>}
          {only && <Alert color="yellow" variant="light" icon={<Icon name="warn" />} mb="md" data-only="">{t('workers.drainOnly')}</Alert>}
          <Textarea label={t('failures.note')} description={t('workers.drainNoteHelp')} data-autofocus autosize minRows={1} maxRows={4} maxLength={500} value={note} onChange={(e) => setNote(e.currentTarget.value)} />
        </>
      )}
    </ConfirmDialog>
  );
}
