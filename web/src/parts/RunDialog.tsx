import { Button, Group, Modal, NativeSelect, Stack } from '@mantine/core';
import { useRef, useState, type FormEvent } from 'react';
import { useTranslation } from 'react-i18next';
import { useJob, useRunJob } from '../api/jobs.ts';
import { useWorkers } from '../api/workers.ts';
import type { Worker } from '../api/types.ts';
import { titled } from '../lib/jobTitle.ts';
import { visible } from '../lib/visible.ts';
import { RunFields } from './RunFields.tsx';
import { newKey, requestOf, runForm } from './runRequest.ts';
import { showRunRequested, type Runnable } from './showRunRequested.tsx';

interface Props {
  job: Runnable;
  /** Initial parameters, from an earlier run. */
  given: Record<string, string>;
  onClose: () => void;
}

/** Asks for the options of a run: parameters, worker, note. */
export function RunDialog({ job, given, onClose }: Props) {
  const { t } = useTranslation();
  const runJob = useRunJob();
  const workers = useWorkers();
  const followers = useJob(job.name).data?.job.meta.children ?? [];
  const [form, setForm] = useState(() => runForm(job.params, given));
  const sent = useRef<{ text: string; key: string } | undefined>(undefined);

  const change = (part: Partial<typeof form>) => {
    setForm({ ...form, ...part });
    if (runJob.isError) runJob.reset();
  };
  const submit = (event: FormEvent) => {
    event.preventDefault();
    const request = requestOf(form, job.params);
    const text = JSON.stringify(request);
    // Repeating the same request after a lost answer starts no second run.
    if (sent.current?.text !== text) sent.current = { text, key: newKey() };
    runJob.mutate(
      { name: job.name, request, key: sent.current.key },
      {
        onSuccess: ({ run }) => {
          showRunRequested(t, job, run);
          onClose();
        },
      },
    );
  };
  return (
    <Modal opened onClose={onClose} title={t('runDialog.title', { name: visible(titled(job)) })} closeButtonProps={{ 'aria-label': t('common.close') }}>
      <form onSubmit={submit} noValidate>
        <Stack gap="md">
          <RunFields
            params={job.params} followers={followers} form={form} error={runJob.error} onChange={change}
            worker={(fault) => (
              <NativeSelect
                label={t('runDialog.worker')} description={t('runDialog.workerHelp')} value={form.worker} error={fault}
                data={[{ value: '', label: t('runDialog.anyWorker') }, ...(workers.data?.items ?? []).filter((w) => !w.away).map((w) => ({ value: w.id, label: workerLabel(w, t('runDialog.draining')) }))]}
                onChange={(e) => change({ worker: e.currentTarget.value })}
              />
            )}
          />
          <Group justify="flex-end" className="stays">
            <Button variant="default" onClick={onClose}>{t('common.cancel')}</Button>
            <Button type="submit" loading={runJob.isPending}>{t('jobs.run')}</Button>
          </Group>
        </Stack>
      </form>
    </Modal>
  );
}

function workerLabel(worker: Worker, draining: string): string {
  return visible(worker.draining ? `${worker.name} (${draining})` : worker.name);
}
