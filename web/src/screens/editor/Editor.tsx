import { Button, Group } from '@mantine/core';
import { useBlocker, useNavigate } from '@tanstack/react-router';
import { useRef, useState, type FormEvent } from 'react';
import { useTranslation } from 'react-i18next';
import { useSaveJob, type VersionedJob } from '../../api/jobs.ts';
import { Problem } from '../../api/problem.ts';
import { ConfirmDialog } from '../../parts/ConfirmDialog.tsx';
import { PageHead } from '../../parts/PageHead.tsx';
import { ProblemNotice } from '../../parts/ProblemNotice.tsx';
import { say } from '../../parts/say.ts';
import { ConflictDialog } from './ConflictDialog.tsx';
import classes from './Editor.module.css';
import { CommandFields, IdentityFields, ScheduleFields } from './fields.tsx';
import { definitionOf, differences, emptyForm, formOf, ownFaults, toDefinition, type Form } from './form.ts';
import { HistoryFields, LimitFields, NotifyFields, PlacementFields, PolicyFields, RetryFields } from './policyFields.tsx';
import { PreviewPanel } from './PreviewPanel.tsx';
import { useFaults } from './useFaults.ts';

interface Props {
  /** The job and version that is edited; undefined for a new job. */
  opened: VersionedJob | undefined;
  /** Begins again with another version of the job. */
  onReopen: (job: VersionedJob) => void;
}

export function Editor({ opened, onReopen }: Props) {
  const { t } = useTranslation();
  const navigate = useNavigate();
  const save = useSaveJob();
  const base = opened && definitionOf(opened.job);
  const [form, setForm] = useState<Form>(() => (base ? formOf(base) : emptyForm));
  const definition = toDefinition(form, base);
  const dirty = differences(base ?? toDefinition(emptyForm, undefined), definition).length > 0;
  const faults = useFaults(form, definition, save.error);
  const saved = useRef(false);
  const formRef = useRef<HTMLFormElement>(null);
  const blocker = useBlocker({ shouldBlockFn: () => dirty && !saved.current, enableBeforeUnload: () => dirty && !saved.current, withResolver: true });
  const conflict = save.error instanceof Problem && opened !== undefined && (save.error.status === 412 || save.error.status === 404);

  // What stands at the fields needs no second notice.
  const told = save.error instanceof Problem && (save.error.code === 'exists' || (save.error.faults.length > 0 && faults.rest.length === 0));

  const set = (change: Partial<Form>) => {
    setForm((before) => ({ ...before, ...change }));
    faults.touch(Object.keys(change) as (keyof Form)[]);
    if (save.isError) save.reset();
  };
  const showFirst = () => requestAnimationFrame(() => formRef.current?.querySelector<HTMLElement>('[aria-invalid=true]')?.focus());
  const send = (etag: string | undefined) =>
    save.mutate(
      { definition, etag },
      {
        onSuccess: () => {
          saved.current = true;
          say(t, t(opened ? 'editor.saved' : 'editor.created', { name: definition.name }));
          void navigate({ to: '/jobs/$name', params: { name: definition.name } });
        },
        onError: () => {
          faults.touchAll();
          showFirst();
        },
      },
    );
  const submit = (event: FormEvent) => {
    event.preventDefault();
    faults.touchAll();
    if (ownFaults(form).length === 0) send(opened?.etag);
    else showFirst();
  };
  const leave = () => void navigate(opened ? { to: '/jobs/$name', params: { name: opened.job.name } } : { to: '/jobs' });
  const parts = { form, set, errorAt: faults.errorAt };
  const title = opened ? t('editor.editTitle', { name: opened.job.name }) : t('editor.newTitle');

  return (
    <form ref={formRef} onSubmit={submit} noValidate className={classes.form}>
      <PageHead title={title} name={title} />
      <div className={classes.columns}>
        <div className={classes.fields}>
          <IdentityFields {...parts} isNew={opened === undefined} />
          <ScheduleFields {...parts} />
          <div className={classes.previewBetween}><PreviewPanel form={form} /></div>
          <CommandFields {...parts} />
          <LimitFields {...parts} />
          <PolicyFields {...parts} />
          <RetryFields {...parts} />
          <PlacementFields {...parts} />
          <NotifyFields {...parts} />
          <HistoryFields {...parts} />
        </div>
        <div className={classes.previewBeside}><PreviewPanel form={form} /></div>
      </div>
      {save.error && !conflict && !told && <ProblemNotice error={save.error} faults={faults.rest} />}
      <Group className={classes.foot}>
        <Button type="submit" loading={save.isPending}>{opened ? t('editor.save') : t('editor.create')}</Button>
        <Button variant="default" onClick={leave}>{t('common.cancel')}</Button>
      </Group>
      {conflict && opened && (
        <ConflictDialog name={opened.job.name} mine={definition} busy={save.isPending} onOverwrite={send} onTake={onReopen} onClose={() => save.reset()} />
      )}
      {blocker.status === 'blocked' && (
        <ConfirmDialog title={t('editor.leaveTitle')} confirm={t('editor.leave')} cancel={t('editor.stay')} onConfirm={blocker.proceed} onCancel={blocker.reset}>
          {t('editor.leaveText')}
        </ConfirmDialog>
      )}
    </form>
  );
}
