import { Button } from '@mantine/core';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { useDeleteRecord } from '../../api/doctor.ts';
import type { StoredRecord } from '../../api/types.ts';
import { formatBytes } from '../../lib/bytes.ts';
import { visible } from '../../lib/visible.ts';
import { ConfirmDialog } from '../../parts/ConfirmDialog.tsx';
import { Panel } from '../../parts/Panel.tsx';
import { serverText } from '../../parts/problemText.ts';
import { showNotice } from '../../parts/showNotice.ts';
import classes from './health.module.css';

/** The stored values that do not decode; those that can be deleted have a button. The server lists them for admins. */
export function RecordsPanel({ records }: { records: readonly StoredRecord[] }) {
  const { t, i18n } = useTranslation();
  const [deleting, setDeleting] = useState<StoredRecord | undefined>();
  if (records.length === 0) return null;
  const inLanguage = (own: string, key: string) => (i18n.language === 'en' ? own : serverText(t, key) ?? own);
  return (
    <Panel title={t('health.records.title', { count: records.length })}>
      <ul className={classes.findings}>
        {records.map((record) => {
          const key = visible(record.key);
          return (
            <li key={record.key} className={classes.finding} data-record={record.key}>
              <div className={classes.head}>
                <strong>{t(`health.records.kinds.${record.kind}`)}</strong>
                <code className="break">{key}</code>
              </div>
              <div className={classes.text}>
                <div className="break">{visible(inLanguage(record.text, `recordFaults.${record.fault}`))}</div>
                <div className="dim">{t('health.records.facts', { size: formatBytes(record.size), revision: String(record.revision) })}</div>
                {record.advice ? (
                  <div className="break"><span className={classes.label}>{t('health.advice')}</span> {visible(inLanguage(record.advice, `recordAdvice.${record.kind}`))}</div>
                ) : (
                  <Button className={classes.end} size="compact-sm" variant="subtle" color="red" aria-label={t('health.records.deleteOf', { key })} onClick={() => setDeleting(record)}>{t('health.records.delete')}</Button>
                )}
              </div>
            </li>
          );
        })}
      </ul>
      {deleting && <DeleteRecord record={deleting} onClose={() => setDeleting(undefined)} />}
    </Panel>
  );
}

function DeleteRecord({ record, onClose }: { record: StoredRecord; onClose: () => void }) {
  const { t } = useTranslation();
  const remove = useDeleteRecord();
  const key = visible(record.key);
  const confirm = () =>
    remove.mutate(record, {
      onSuccess: () => {
        showNotice(t, t('health.records.deleted', { key }));
        onClose();
      },
    });
  return (
    <ConfirmDialog title={t('health.records.deleteTitle')} confirm={t('health.records.deleteConfirm')} busy={remove.isPending} error={remove.error} onConfirm={confirm} onCancel={onClose}>
      <p><code className="break">{key}</code></p>
      <p>{t('health.records.deleteText')}</p>
    </ConfirmDialog>
  );
}
