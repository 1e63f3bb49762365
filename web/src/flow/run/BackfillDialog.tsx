import { Button, Checkbox, Group, Modal, NativeSelect, Stack, Textarea, TextInput } from '@mantine/core';
import { useMemo, useState, type FormEvent } from 'react';
import { useTranslation } from 'react-i18next';
import type { Param } from '../../api/types.ts';
import { localZone } from '../../lib/localTime.ts';
import { formatTime } from '../../lib/time.ts';
import { visible } from '../../lib/visible.ts';
import { ParamInput } from '../../parts/ParamInput.tsx';
import { ProblemNotice } from '../../parts/ProblemNotice.tsx';
import { warningText } from '../../parts/reasonText.ts';
import { WhenField } from '../../parts/WhenField.tsx';
import { requestOf, runForm } from '../../parts/runRequest.ts';
import { backfillOf, faultsOf, mostAtOnce, reprocesses, type BackfillFault, type BackfillForm, type BackfillPreview, type BackfillRequest, type Reprocess } from '../requests.ts';
import classes from './dialogs.module.css';
import { PreviewList, PreviewPart } from './PreviewPart.tsx';
import { usePreview } from './usePreview.ts';

interface Props {
  /** Title or name of the job. */
  job: string;
  params?: Record<string, Param> | undefined;
  /** The range to begin with. */
  range?: { from: string; to: string } | undefined;
  busy: boolean;
  error: Error | null;
  /** Returns the dates that a request would run. */
  preview: (request: BackfillRequest) => Promise<BackfillPreview>;
  onSubmit: (request: BackfillRequest) => void;
  onClose: () => void;
}

/** Asks for the past dates of a job to run, and lists them before it can be confirmed. */
export function BackfillDialog({ job, params, busy, error, preview, onSubmit, onClose, range }: Props) {
  const { t, i18n } = useTranslation();
  const [form, setForm] = useState<BackfillForm>(() => ({ from: range?.from, to: range?.to, reprocess: 'none', order: 'oldest', concurrency: '1', maxFailures: '', includeUnknown: false, params: runForm(params, {}).params, note: '' }));
  const [left, setLeft] = useState<ReadonlySet<BackfillFault>>(new Set());
  const change = (part: Partial<BackfillForm>) => setForm({ ...form, ...part });
  const leave = (field: BackfillFault) => () => setLeft(new Set([...left, field]));
  const request = useMemo(() => backfillOf(form, requestOf({ params: form.params, worker: '', note: '' }, params).params ?? {}), [form, params]);
  const asked = useMemo(() => request && { ...request, note: undefined }, [request]);
  const { ready, error: refused, loading } = usePreview<BackfillRequest, BackfillPreview>(asked as BackfillRequest | undefined, preview);
  const faults = faultsOf(form);
  const errorAt = (field: BackfillFault) => (faults.includes(field) && left.has(field) ? t(`backfill.wrong.${field}`, { most: mostAtOnce }) : undefined);
  const nothing = ready?.total === 0;
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (request && ready && !nothing) onSubmit(request);
    else setLeft(new Set(faults));
  };
  const dates = ready?.items.map(({ plannedAt, attempt }) => (attempt > 1 ? t('backfill.again', { date: formatTime(plannedAt, i18n.language), attempt }) : formatTime(plannedAt, i18n.language))) ?? [];
  return (
    <Modal opened onClose={onClose} title={t('backfill.title', { name: visible(job) })} closeButtonProps={{ 'aria-label': t('common.close') }}>
      <form onSubmit={submit} noValidate>
        <Stack gap="md">
          <div>{t('backfill.text', { zone: localZone() })}</div>
          <div className={classes.pair}>
            <WhenField label={t('backfill.from')} data-autofocus value={form.from} error={errorAt('from')} onChange={(from) => change({ from })} />
            <WhenField label={t('backfill.to')} value={form.to} error={errorAt('to')} onChange={(to) => change({ to })} />
          </div>
          <NativeSelect
            label={t('backfill.reprocess')} description={t(`backfill.reprocessHelp.${form.reprocess}`)} value={form.reprocess} data={reprocesses.map((value) => ({ value, label: t(`backfill.reprocesses.${value}`) }))}
            onChange={(event) => change({ reprocess: event.currentTarget.value as Reprocess })}
          />
          <div className={classes.pair}>
            <NativeSelect label={t('backfill.order')} value={form.order} data={(['oldest', 'newest'] as const).map((value) => ({ value, label: t(`backfill.orders.${value}`) }))} onChange={(event) => change({ order: event.currentTarget.value as BackfillForm['order'] })} />
            <TextInput label={t('backfill.concurrency')} inputMode="numeric" value={form.concurrency} error={errorAt('concurrency')} onBlur={leave('concurrency')} onChange={(event) => change({ concurrency: event.currentTarget.value })} />
            <TextInput label={t('backfill.maxFailures')} placeholder={t('backfill.noLimit')} inputMode="numeric" value={form.maxFailures} error={errorAt('maxFailures')} onBlur={leave('maxFailures')} onChange={(event) => change({ maxFailures: event.currentTarget.value })} />
          </div>
          <Checkbox label={t('backfill.includeUnknown')} description={t('backfill.includeUnknownHelp')} checked={form.includeUnknown} onChange={(event) => change({ includeUnknown: event.currentTarget.checked })} />
          {Object.entries(params ?? {}).map(([name, param]) => (
            <ParamInput key={name} name={name} param={param} value={form.params[name] ?? ''} error={undefined} first={false} onChange={(value) => change({ params: { ...form.params, [name]: value } })} />
          ))}
          <Textarea label={t('runDialog.note')} description={t('runDialog.noteHelp')} autosize minRows={1} maxRows={4} maxLength={500} value={form.note} onChange={(event) => change({ note: event.currentTarget.value })} />
          <PreviewPart title={t('backfill.preview')} loading={loading} error={refused} hint={t('backfill.pickDates')}>
            {ready && (
              <>
                <strong>{nothing ? t('backfill.nothing') : t('backfill.runs', { count: ready.total })}</strong>
                {!nothing && <PreviewList label={t('backfill.runs', { count: ready.total })} items={dates} total={ready.total} />}
                {ready.unknown > 0 && <div>{t('backfill.unknown', { count: ready.unknown })}</div>}
                {ready.warnings.map((warning) => <div key={warning.code} className="break" data-warning={warning.code}>{warningText(t, i18n.language, warning)}</div>)}
                {ready.live.length > 0 && <div>{t('backfill.live', { count: ready.live.length })}</div>}
              </>
            )}
          </PreviewPart>
          {error && <ProblemNotice error={error} />}
          <Group justify="flex-end" className="stays">
            <Button variant="default" onClick={onClose}>{t('common.cancel')}</Button>
            <Button type="submit" loading={busy} disabled={!ready || nothing}>{ready && !nothing ? t('backfill.confirm', { count: ready.total }) : t('backfill.verb')}</Button>
          </Group>
        </Stack>
      </form>
    </Modal>
  );
}
