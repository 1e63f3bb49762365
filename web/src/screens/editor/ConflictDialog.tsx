import { Button, Group, Modal, Stack } from '@mantine/core';
import { useEffect } from 'react';
import { useTranslation } from 'react-i18next';
import { useFreshJob, type VersionedJob } from '../../api/jobs.ts';
import { Problem } from '../../api/problem.ts';
import type { Definition } from '../../api/types.ts';
import { visible } from '../../lib/visible.ts';
import { column, DataTable } from '../../parts/DataTable.tsx';
import { ProblemNotice } from '../../parts/ProblemNotice.tsx';
import { Waiting } from '../../parts/Waiting.tsx';
import { definitionOf, differences, type Difference } from './form.ts';

interface Props {
  name: string;
  mine: Definition;
  busy: boolean;
  /** Saves mine over the version that the etag names; without one creates the job anew. */
  onOverwrite: (etag: string | undefined) => void;
  onTake: (job: VersionedJob) => void;
  onClose: () => void;
}

/** Somebody else saved, or deleted, the job that is being edited: shows what differs and lets one choose. */
export function ConflictDialog({ name, mine, busy, onOverwrite, onTake, onClose }: Props) {
  const { t } = useTranslation();
  const fresh = useFreshJob();
  const { mutate } = fresh;
  useEffect(() => mutate(name), [mutate, name]);

  const deleted = fresh.error instanceof Problem && fresh.error.status === 404;
  const rows = fresh.data ? differences(definitionOf(fresh.data.job), mine) : [];
  const value = (text: string) => (text === '' ? <span className="dim">{t('conflict.empty')}</span> : <code className="break">{visible(text)}</code>);
  const columns = [
    column<Difference>('field', t('conflict.fields'), (d) => d.field),
    column<Difference>('theirs', t('conflict.theirs'), (d) => value(d.theirs)),
    column<Difference>('mine', t('conflict.mine'), (d) => value(d.mine)),
  ];
  return (
    <Modal opened size="lg" onClose={onClose} title={t('conflict.title')} closeButtonProps={{ 'aria-label': t('common.close') }}>
      <Stack>
        {fresh.isPending && <Waiting rows={3} />}
        {deleted && <p>{t('conflict.deleted')}</p>}
        {fresh.error && !deleted && <ProblemNotice error={fresh.error} onRetry={() => mutate(name)} />}
        {fresh.data && (
          <>
            <div>{t('conflict.text', { version: fresh.data.job.meta.version })}</div>
            {rows.length === 0 ? <div>{t('conflict.same')}</div> : <DataTable caption={t('conflict.fields')} columns={columns} rows={rows} rowId={(d) => d.field} />}
          </>
        )}
        <Group justify="flex-end">
          <Button variant="default" onClick={onClose}>{t('conflict.keepEditing')}</Button>
          {fresh.data && <Button variant="default" onClick={() => onTake(fresh.data)}>{t('conflict.takeTheirs')}</Button>}
          {(fresh.data || deleted) && (
            <Button color="red" loading={busy} onClick={() => onOverwrite(fresh.data?.etag)}>{deleted ? t('conflict.recreate') : t('conflict.overwrite')}</Button>
          )}
        </Group>
      </Stack>
    </Modal>
  );
}
