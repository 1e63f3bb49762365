import { Alert, Button, Checkbox, Group, Modal, Progress, Stack, Textarea, TextInput } from '@mantine/core';
import { useBlocker } from '@tanstack/react-router';
import { useState, type FormEvent } from 'react';
import { useTranslation } from 'react-i18next';
import type { BulkAction, BulkOrder } from '../../api/bulk.ts';
import { Problem } from '../../api/problem.ts';
import { sentences } from '../../lib/lists.ts';
import { listed } from '../../lib/lists.ts';
import { titled } from '../../lib/jobTitle.ts';
import { localZone } from '../../lib/localTime.ts';
import { visible } from '../../lib/visible.ts';
import { ProblemNotice } from '../../parts/ProblemNotice.tsx';
import { faultText } from '../../parts/problemText.ts';
import { WhenField } from '../../parts/WhenField.tsx';
import { BulkOutcome } from './BulkOutcome.tsx';
import classes from './BulkDialog.module.css';
import type { Picked } from './selection.ts';
import { useBulk } from './useBulk.ts';

const namesShown = 12;

interface Props {
  action: BulkAction;
  /** The affected jobs. */
  jobs: readonly Picked[];
  /** Selected jobs without sufficient permission. */
  leftOut: readonly Picked[];
  onClose: (done: boolean) => void;
}

/** Shows the affected jobs, applies the action, and shows the result for each. */
export function BulkDialog({ action, jobs, leftOut, onClose }: Props) {
  const { t, i18n } = useTranslation();
  const { state, begin, goOn, stop, forgetError } = useBulk();
  // Closing would hide the result: the user has to stop first.
  useBlocker({ shouldBlockFn: () => state.phase === 'doing', enableBeforeUnload: () => state.phase === 'doing' });
  const [note, setNote] = useState('');
  const [until, setUntil] = useState<string | undefined>();
  const [kill, setKill] = useState(false);
  const [typed, setTyped] = useState('');
  const number = (n: number) => new Intl.NumberFormat(i18n.language).format(n);
  const order: BulkOrder = { action, note: note.trim() || undefined, until: action === 'pause' ? until : undefined, kill: action === 'delete' && kill ? true : undefined };
  const faults = state.error instanceof Problem ? state.error.faults : [];
  const errorAt = (location: string) => sentences(faults.filter((f) => f.location === location).map((f) => visible(faultText(t, i18n.language, f))), i18n.language) || undefined;
  const elsewhere = faults.filter((f) => f.location !== 'note' && f.location !== 'until');
  const already = jobs.filter((job) => job.paused).length;
  const count = jobs.length;
  const sure = action !== 'delete' || typed.trim() === String(count);
  const close = () => state.phase !== 'doing' && onClose(state.phase === 'done');
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (sure && count > 0) begin(order, jobs.map((job) => job.name));
  };
  const change = (set: () => void) => {
    set();
    forgetError();
  };

  return (
    <Modal opened onClose={close} size={state.phase === 'done' ? 'lg' : 'md'} closeOnClickOutside={state.phase === 'asking'} title={state.phase === 'done' ? t('jobs.bulk.outcomes') : t(`jobs.bulk.${action}.title`, { count, number: number(count) })} closeButtonProps={{ 'aria-label': t('common.close') }}>
      {state.phase === 'asking' && (
        <form onSubmit={submit} noValidate>
          <Stack gap="md">
            <div>{t(`jobs.bulk.${action}.text`)}</div>
            <p className={classes.names}>
              {listed(jobs.slice(0, namesShown).map((job) => visible(titled(job))), i18n.language)}
              {count > namesShown && ` ${t('jobs.bulk.andMore', { count: count - namesShown, number: number(count - namesShown) })}`}
            </p>
            {leftOut.length > 0 && <Alert color="yellow" variant="light">{t('jobs.bulk.leftOut', { count: leftOut.length, number: number(leftOut.length) })}</Alert>}
            {action === 'pause' && already > 0 && <div className="small dim">{t('jobs.bulk.alreadyPaused', { count: already, number: number(already) })}</div>}
            {action === 'run' && already > 0 && <div className="small dim">{t('jobs.bulk.runsPaused', { count: already, number: number(already) })}</div>}
            {action === 'resume' && already < count && <div className="small dim">{t('jobs.bulk.notPaused', { count: count - already, number: number(count - already) })}</div>}
            {action !== 'resume' && (
              <Textarea
                label={t('pause.note')} description={t(`jobs.bulk.${action}.note`)} data-autofocus autosize minRows={1} maxRows={4} maxLength={500} value={note} error={errorAt('note')}
                onChange={(e) => change(() => setNote(e.currentTarget.value))}
              />
            )}
            {action === 'pause' && (
              <WhenField label={t('pause.until')} description={t('pause.untilHelp', { zone: localZone() })} value={until} error={errorAt('until')} onChange={(at) => change(() => setUntil(at))} />
            )}
            {action === 'delete' && <Checkbox label={t('jobs.bulk.alsoKill')} checked={kill} onChange={(e) => setKill(e.currentTarget.checked)} />}
            {action === 'delete' && (
              <TextInput label={t('jobs.bulk.typeCount', { count })} inputMode="numeric" autoComplete="off" value={typed} onChange={(e) => setTyped(e.currentTarget.value)} />
            )}
            {state.error && (faults.length === 0 || elsewhere.length > 0) && <ProblemNotice error={state.error} faults={elsewhere} />}
            <Group justify="flex-end">
              <Button variant="default" onClick={close}>{t('common.cancel')}</Button>
              <Button type="submit" {...((action === 'delete' || action === 'kill') && { color: 'red' })} disabled={!sure || count === 0}>{t(`jobs.bulk.${action}.confirm`, { count, number: number(count) })}</Button>
            </Group>
          </Stack>
        </form>
      )}
      {state.phase === 'doing' && (
        <Stack gap="md" role="status">
          <div>{t('jobs.bulk.doing', { done: number(count - state.left), all: number(count) })}</div>
          <Progress value={count === 0 ? 0 : (100 * (count - state.left)) / count} aria-label={t('jobs.bulk.progress')} />
          {state.left > 0 && <Group justify="flex-end"><Button variant="default" onClick={stop}>{t('jobs.bulk.stop')}</Button></Group>}
        </Stack>
      )}
      {state.phase === 'done' && (
        <BulkOutcome action={action} titles={new Map(jobs.map(({ name, title }) => [name, title]))} items={state.items} left={state.left} error={state.error} onGoOn={() => goOn(order)} onClose={() => onClose(true)} />
      )}
    </Modal>
  );
}
