import { Button, Group, Modal, Stack } from '@mantine/core';
import { useState, type FormEvent } from 'react';
import { useTranslation } from 'react-i18next';
import type { RerunOrder } from '../../api/flowRuns.ts';
import type { Job } from '../../api/types.ts';
import { titled } from '../../lib/jobTitle.ts';
import { visible } from '../../lib/visible.ts';
import { RunFields } from '../../parts/RunFields.tsx';
import { againOf, runForm } from '../../parts/runRequest.ts';

interface Props {
  job: Job;
  /** Parameters of the earlier run. */
  given: Record<string, string> | undefined;
  busy: boolean;
  error: Error | null;
  onChange: () => void;
  onSubmit: (order: RerunOrder) => void;
  onClose: () => void;
}

/** Asks how to run a fire again: with which parameters, and whether other jobs run after it. */
export function AgainDialog({ job, given = {}, busy, error, onChange, onSubmit, onClose }: Props) {
  const { t } = useTranslation();
  const [first] = useState(() => runForm(job.params, given));
  const [form, setForm] = useState(first);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    onSubmit(againOf(form, first.params));
  };
  return (
    <Modal opened onClose={onClose} title={t('run.againTitle', { name: visible(titled(job)) })} closeButtonProps={{ 'aria-label': t('common.close') }}>
      <form onSubmit={submit} noValidate>
        <Stack gap="md">
          <div>{t('run.againText')}</div>
          <RunFields
            params={job.params} followers={job.meta.children ?? []} form={form} error={error}
            onChange={(part) => {
              setForm({ ...form, ...part });
              onChange();
            }}
          />
          <Group justify="flex-end" className="stays">
            <Button variant="default" onClick={onClose}>{t('common.cancel')}</Button>
            <Button type="submit" loading={busy}>{t('run.again')}</Button>
          </Group>
        </Stack>
      </form>
    </Modal>
  );
}
