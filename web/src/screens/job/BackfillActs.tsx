import { Button, Checkbox, Group } from '@mantine/core';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { useBackfillAct, type Backfill } from '../../api/backfills.ts';
import { ConfirmDialog } from '../../parts/ConfirmDialog.tsx';
import { showFailure } from '../../parts/showFailure.ts';

/** Pauses, resumes and cancels a backfill; nothing once it ends. */
export function BackfillActs({ backfill: { id = '', state } }: { backfill: Backfill }) {
  const { t, i18n } = useTranslation();
  const act = useBackfillAct();
  const [cancelling, setCancelling] = useState(false);
  const [kill, setKill] = useState(false);
  const send = (what: 'pause' | 'resume') => act.mutate({ id, act: what }, { onError: (error) => showFailure(t, i18n.language, error) });
  return (
    <>
      {(state === 'running' || state === 'paused') && (
        <Group gap="xs">
          {state === 'running'
            ? <Button size="xs" variant="default" loading={act.isPending} onClick={() => send('pause')}>{t('pause.pause')}</Button>
            : <Button size="xs" variant="default" loading={act.isPending} onClick={() => send('resume')}>{t('pause.resume')}</Button>}
          <Button size="xs" variant="default" onClick={() => setCancelling(true)}>{t('backfill.cancel')}</Button>
        </Group>
      )}
      {cancelling && (
        <ConfirmDialog
          title={t('backfill.cancelTitle')} confirm={t('backfill.cancelConfirm')} cancel={t('backfill.keep')} busy={act.isPending} error={act.error} onCancel={() => setCancelling(false)}
          onConfirm={() => act.mutate({ id, act: 'cancel', kill }, { onSuccess: () => setCancelling(false) })}
        >
          <p>{t('backfill.cancelText')}</p>
          <Checkbox label={t('backfill.alsoKill')} checked={kill} onChange={(event) => setKill(event.currentTarget.checked)} />
        </ConfirmDialog>
      )}
    </>
  );
}
