import { Button, Group, Modal, Stack } from '@mantine/core';
import { useEffect, useRef, useState, type FormEvent } from 'react';
import { useTranslation } from 'react-i18next';
import { useDryRun } from '../../api/apply.ts';
import { Problem } from '../../api/problem.ts';
import type { Definition } from '../../api/types.ts';
import { titled } from '../../lib/jobTitle.ts';
import { visible } from '../../lib/visible.ts';
import { DiffView } from '../../parts/DiffView.tsx';
import { ProblemNotice } from '../../parts/ProblemNotice.tsx';
import { ReasonField } from '../../parts/ReasonField.tsx';
import { ScheduleImpact } from '../../parts/ScheduleImpact.tsx';
import { Waiting } from '../../parts/Waiting.tsx';
import dialogClasses from './dialogs.module.css';

interface Props {
  base: Definition | undefined;
  definition: Definition;
  busy: boolean;
  error: Error | null;
  /** With the reason, if one is given. */
  onSave: (note: string) => void;
  onClose: () => void;
}

/** Shows the changes before they are saved, and their consequences. Enter saves. */
export function ReviewDialog({ base, definition, busy, error, onSave, onClose }: Props) {
  const { t } = useTranslation();
  // The definition at the time of the request.
  const [jobs] = useState(() => [definition]);
  const dry = useDryRun(jobs);
  const [item] = dry.data?.items ?? [];
  const [note, setNote] = useState('');
  const submit = (event: FormEvent) => {
    event.preventDefault();
    event.stopPropagation();
    onSave(note.trim());
  };
  // A disabled button cannot have the focus.
  const button = useRef<HTMLButtonElement>(null);
  useEffect(() => {
    if (!dry.isPending) button.current?.focus();
  }, [dry.isPending]);
  const unchanged = item?.result === 'unchanged';
  return (
    <Modal opened size="xl" onClose={onClose} title={t(base ? 'review.title' : 'review.newTitle', { name: visible(titled(definition)) })} closeButtonProps={{ 'aria-label': t('common.close') }}>
      <form onSubmit={submit}>
        <Stack gap="md">
          {dry.isPending && <Waiting rows={3} />}
          {dry.error && <ProblemNotice error={dry.error} onRetry={() => void dry.refetch()} />}
          {item?.refusal && <ProblemNotice error={new Problem(422, item.refusal)} />}
          {unchanged && <p className={dialogClasses.flat}>{t('review.same')}</p>}
          {item?.diff && <DiffView diff={item.diff} label={t('review.changes')} />}
          <ScheduleImpact base={base} definition={definition} />
          {definition.paused && <p className={dialogClasses.flat}>{t('review.paused')}</p>}
          {base && !unchanged && <p className={`${dialogClasses.flat} dim small`}>{t('review.running')}</p>}
          {!unchanged && <ReasonField value={note} onChange={setNote} />}
          {error && <ProblemNotice error={error} />}
          <Group justify="flex-end" className="stays">
            <Button variant="default" onClick={onClose}>{t('editor.stay')}</Button>
            <Button ref={button} type="submit" data-autofocus loading={busy} disabled={dry.isPending}>{base ? t('editor.save') : t('editor.create')}</Button>
          </Group>
        </Stack>
      </form>
    </Modal>
  );
}
