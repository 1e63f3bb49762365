import { Alert, Button, Group, Modal, Stack } from '@mantine/core';
import { useEffect, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { definitionOf } from '../../api/definition.ts';
import { useFreshJob } from '../../api/jobs.ts';
import { Problem } from '../../api/problem.ts';
import { useRollback, useVersion, useVersionDiff } from '../../api/versions.ts';
import { titled } from '../../lib/jobTitle.ts';
import { visible } from '../../lib/visible.ts';
import { versionNumber } from '../../lib/versionNumber.ts';
import { DiffView } from '../../parts/DiffView.tsx';
import { Icon } from '../../parts/icons.tsx';
import { ProblemNotice } from '../../parts/ProblemNotice.tsx';
import { ReasonField } from '../../parts/ReasonField.tsx';
import { ScheduleImpact } from '../../parts/ScheduleImpact.tsx';
import { showNotice } from '../../parts/showNotice.ts';
import { Waiting } from '../../parts/Waiting.tsx';

/** Shows the changes of a rollback and applies it. A concurrent change is not overwritten. */
export function RollbackDialog({ name, version, number, onClose, onDone }: { name: string; version: number; number: number; onClose: () => void; onDone: (now: number) => void }) {
  const { t } = useTranslation();
  const fresh = useFreshJob();
  const rollback = useRollback();
  const [note, setNote] = useState('');
  const { mutate } = fresh;
  useEffect(() => mutate(name), [mutate, name]);

  const now = fresh.data?.job.meta.version;
  const diff = useVersionDiff(name, now === undefined ? undefined : [now, version]);
  const then = useVersion(name, version);
  const called = visible(titled({ name, title: fresh.data?.job.title }));
  const stale = rollback.error instanceof Problem && rollback.error.status === 412;
  const error = fresh.error ?? diff.error ?? (stale ? null : rollback.error);
  const known = diff.data && !diff.isPlaceholderData && diff.data.from === now && diff.data.to === version;
  const confirm = () => {
    if (!fresh.data) return;
    rollback.mutate(
      { name, version, note: note.trim(), etag: fresh.data.etag },
      {
        onSuccess: (job) => {
          showNotice(t, t('versions.rolledBack', { name: called, version: number, now: versionNumber(job.meta) }));
          onClose();
          onDone(job.meta.version);
        },
        onError: (e) => {
          if (e instanceof Problem && e.status === 412) mutate(name);
        },
      },
    );
  };
  return (
    <Modal opened size="xl" onClose={onClose} title={t('versions.rollbackTitle', { name: called, version: number })} closeButtonProps={{ 'aria-label': t('common.close') }}>
      <Stack gap="md">
        <div>{t('versions.rollbackText')}</div>
        {stale && <Alert color="yellow" variant="light" icon={<Icon name="warn" />} role="alert" title={t('versions.stale')}>{t('versions.staleText', { version: fresh.data ? versionNumber(fresh.data.job.meta) : '' })}</Alert>}
        {error && <ProblemNotice error={error} />}
        {!known && !error && <Waiting rows={3} />}
        {known && diff.data && <DiffView diff={diff.data.diff} label={t('versions.willChange')} />}
        {known && fresh.data && then.data?.job && <ScheduleImpact key={`${now} ${version}`} base={definitionOf(fresh.data.job)} definition={then.data.job} />}
        <ReasonField value={note} onChange={setNote} />
        <Group justify="flex-end" className="stays">
          <Button variant="default" onClick={onClose}>{t('common.cancel')}</Button>
          <Button color="red" disabled={!known || diff.data?.diff === ''} loading={rollback.isPending || fresh.isPending} onClick={confirm}>{t('versions.rollback', { version: number })}</Button>
        </Group>
      </Stack>
    </Modal>
  );
}
