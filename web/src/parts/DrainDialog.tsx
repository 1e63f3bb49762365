import { Alert, Textarea } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { Worker } from '../api/types.ts';
import { useChangeWorker, useExclusiveJobs } from '../api/workers.ts';
import { visible } from '../lib/visible.ts';
import { ConfirmDialog } from './ConfirmDialog.tsx';
import { Icon } from './icons.tsx';
import { showNotice } from './showNotice.ts';

/** Asks before a worker is drained or resumed, and describes the effect. */
export function DrainDialog({ worker, onClose }: { worker: Worker; onClose: () => void }) {
  const { t } = useTranslation();
  const change = useChangeWorker();
  const [note, setNote] = useState('');
  const name = visible(worker.name || worker.id);
  const drained = worker.settings?.drain === true;
  const exclusive = useExclusiveJobs(worker.id, !drained).data;
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
          {exclusive && exclusive.others > 0 && exclusive.count === 0 && <p>{t('workers.drainOthers')}</p>}
          {exclusive && exclusive.others === 0 && <Alert color="yellow" variant="light" icon={<Icon name="warn" />} mb="md" data-only="">{t('workers.drainOnly', { count: exclusive.count })}</Alert>}
          {exclusive && exclusive.others > 0 && exclusive.count > 0 && (
            <Alert color="yellow" variant="light" icon={<Icon name="warn" />} mb="md" data-exclusive="">
              {t('workers.drainExclusive', { count: exclusive.count })}
              <ul>{exclusive.jobs.map((job) => <li key={job}><Link to="/jobs/$name" params={{ name: job }}>{job}</Link></li>)}{exclusive.count > exclusive.jobs.length && <li>{t('workers.drainMore', { count: exclusive.count - exclusive.jobs.length })}</li>}</ul>
            </Alert>
          )}
          <Textarea label={t('failures.note')} description={t('workers.drainNoteHelp')} data-autofocus autosize minRows={1} maxRows={4} maxLength={500} value={note} onChange={(e) => setNote(e.currentTarget.value)} />
        </>
      )}
    </ConfirmDialog>
  );
}
