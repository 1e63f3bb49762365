import { Button } from '@mantine/core';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { useDeleteWorkerSettings, useWorkers } from '../../api/workers.ts';
import { visible } from '../../lib/visible.ts';
import { ConfirmDialog } from '../../parts/ConfirmDialog.tsx';
import { Filled, slot } from '../../parts/Filled.tsx';
import { Panel } from '../../parts/Panel.tsx';
import { useSession } from '../../parts/session.ts';
import { showNotice } from '../../parts/showNotice.ts';
import { RelativeTime } from '../../parts/TimeText.tsx';
import classes from './health.module.css';

/** The settings of workers that are gone. Nothing deletes them automatically: a worker may come back. */
export function LeftSettings() {
  const { t } = useTranslation();
  const admin = useSession().role === 'admin';
  const [deleting, setDeleting] = useState<string | undefined>();
  const gone = (useWorkers().data?.items ?? []).filter(({ away }) => away);
  if (gone.length === 0) return null;
  return (
    <Panel title={t('health.settings.title', { count: gone.length })}>
      <ul className={classes.findings}>
        {gone.map(({ id, settings }) => (
          <li key={id} className={classes.finding} data-settings={id}>
            <div className={classes.head}><code className="break">{visible(id)}</code></div>
            <div className={classes.text}>
              {settings?.drain && <div>{t('health.settings.drained')}</div>}
              {settings?.updatedAt && (
                <div className="dim"><Filled text={t('health.settings.changed', { who: visible(settings.updatedBy ?? ''), at: slot })}><RelativeTime at={settings.updatedAt} /></Filled></div>
              )}
              {admin && <Button className={classes.end} size="compact-sm" variant="subtle" color="red" aria-label={t('health.settings.deleteOf', { id: visible(id) })} onClick={() => setDeleting(id)}>{t('health.settings.delete')}</Button>}
            </div>
          </li>
        ))}
      </ul>
      {deleting !== undefined && <DeleteSettings id={deleting} onClose={() => setDeleting(undefined)} />}
    </Panel>
  );
}

function DeleteSettings({ id, onClose }: { id: string; onClose: () => void }) {
  const { t } = useTranslation();
  const remove = useDeleteWorkerSettings();
  const confirm = () =>
    remove.mutate(id, {
      onSuccess: () => {
        showNotice(t, t('health.settings.deleted', { id: visible(id) }));
        onClose();
      },
    });
  return (
    <ConfirmDialog title={t('health.settings.deleteTitle', { id: visible(id) })} confirm={t('health.settings.deleteConfirm')} busy={remove.isPending} error={remove.error} onConfirm={confirm} onCancel={onClose}>
      <p>{t('health.settings.deleteText')}</p>
    </ConfirmDialog>
  );
}
