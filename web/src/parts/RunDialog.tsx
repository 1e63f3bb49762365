import { Button, Checkbox, Group, Modal, NativeSelect, Stack, Textarea } from '@mantine/core';
import { useRef, useState, type FormEvent } from 'react';
import { useTranslation } from 'react-i18next';
import { useJob, useRunJob } from '../api/jobs.ts';
import { Problem } from '../api/problem.ts';
import { useWorkers } from '../api/workers.ts';
import type { Worker } from '../api/types.ts';
import { titled } from '../lib/jobTitle.ts';
import { listed, sentences } from '../lib/lists.ts';
import { visible } from '../lib/visible.ts';
import { ParamInput } from './ParamInput.tsx';
import { ProblemNotice } from './ProblemNotice.tsx';
import { faultText } from './problemText.ts';
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
  const { t, i18n } = useTranslation();
  const runJob = useRunJob();
  const workers = useWorkers();
  const followers = useJob(job.name).data?.job.meta.children ?? [];
  const [form, setForm] = useState(() => runForm(job.params, given));
  const sent = useRef<{ text: string; key: string } | undefined>(undefined);
  const names = Object.keys(job.params ?? {});
  const faults = runJob.error instanceof Problem ? runJob.error.faults : [];
  const errorAt = (location: string) => sentences(faults.filter((f) => f.location === location).map((f) => visible(faultText(t, i18n.language, f))), i18n.language) || undefined;
  const elsewhere = faults.filter((f) => !['worker', 'note', ...names.map((name) => `params.${name}`)].includes(f.location));

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
          {names.map((name, i) => (
            <ParamInput
              key={name} name={name} param={job.params?.[name] ?? {}} value={form.params[name] ?? ''} error={errorAt(`params.${name}`)} first={i === 0}
              onChange={(value) => change({ params: { ...form.params, [name]: value } })}
            />
          ))}
          <NativeSelect
            label={t('runDialog.worker')} description={t('runDialog.workerHelp')} value={form.worker} error={errorAt('worker')}
            data={[{ value: '', label: t('runDialog.anyWorker') }, ...(workers.data?.items ?? []).filter((w) => !w.away).map((w) => ({ value: w.id, label: workerLabel(w, t('runDialog.draining')) }))]}
            onChange={(e) => change({ worker: e.currentTarget.value })}
          />
          <Textarea label={t('runDialog.note')} description={t('runDialog.noteHelp')} autosize minRows={1} maxRows={4} maxLength={500} value={form.note} error={errorAt('note')} onChange={(e) => change({ note: e.currentTarget.value })} />
          {followers.length > 0 && <Checkbox label={t('runDialog.alone')} description={t('runDialog.aloneHelp', { jobs: visible(listed(followers, i18n.language)) })} checked={form.alone ?? false} onChange={(e) => change({ alone: e.currentTarget.checked })} />}
          {runJob.error && (faults.length === 0 || elsewhere.length > 0) && <ProblemNotice error={runJob.error} faults={elsewhere} />}
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
