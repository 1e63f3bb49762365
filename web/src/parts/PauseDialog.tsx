import { Button, Group, Modal, Stack, Textarea } from '@mantine/core';
import { useState, type FormEvent } from 'react';
import { useTranslation } from 'react-i18next';
import { usePauseJob } from '../api/jobs.ts';
import { Problem } from '../api/problem.ts';
import type { Job } from '../api/types.ts';
import { titled } from '../lib/jobTitle.ts';
import { sentences } from '../lib/lists.ts';
import { localZone } from '../lib/localTime.ts';
import { visible } from '../lib/visible.ts';
import { ProblemNotice } from './ProblemNotice.tsx';
import { faultText } from './problemText.ts';
import { showNotice } from './showNotice.ts';
import { WhenField } from './WhenField.tsx';

/** Asks for the reason and end of a pause, and describes its effect. */
export function PauseDialog({ job, onClose }: { job: Pick<Job, 'name' | 'title'>; onClose: () => void }) {
  const { t, i18n } = useTranslation();
  const pause = usePauseJob();
  const name = visible(titled(job));
  const [note, setNote] = useState('');
  const [until, setUntil] = useState<string | undefined>();
  const faults = pause.error instanceof Problem ? pause.error.faults : [];
  const errorAt = (location: string) => sentences(faults.filter((f) => f.location === location).map((f) => visible(faultText(t, i18n.language, f))), i18n.language) || undefined;
  const elsewhere = faults.filter((f) => f.location !== 'note' && f.location !== 'until');
  const change = (set: () => void) => {
    set();
    if (pause.isError) pause.reset();
  };
  const submit = (event: FormEvent) => {
    event.preventDefault();
    pause.mutate(
      { name: job.name, pause: { note: note.trim() || undefined, until } },
      {
        onSuccess: () => {
          showNotice(t, t('pause.said', { name }));
          onClose();
        },
      },
    );
  };
  return (
    <Modal opened onClose={onClose} title={t('pause.title', { name })} closeButtonProps={{ 'aria-label': t('common.close') }}>
      <form onSubmit={submit} noValidate>
        <Stack gap="md">
          <div>{t('pause.text')}</div>
          <Textarea label={t('pause.note')} description={t('pause.noteHelp')} data-autofocus autosize minRows={1} maxRows={4} maxLength={500} value={note} error={errorAt('note')} onChange={(e) => change(() => setNote(e.currentTarget.value))} />
          <WhenField label={t('pause.until')} description={t('pause.untilHelp', { zone: localZone() })} value={until} error={errorAt('until')} onChange={(at) => change(() => setUntil(at))} />
          {pause.error && (faults.length === 0 || elsewhere.length > 0) && <ProblemNotice error={pause.error} faults={elsewhere} />}
          <Group justify="flex-end">
            <Button variant="default" onClick={onClose}>{t('common.cancel')}</Button>
            <Button type="submit" loading={pause.isPending}>{t('pause.confirm')}</Button>
          </Group>
        </Stack>
      </form>
    </Modal>
  );
}
