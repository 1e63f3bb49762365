import { Button, Checkbox, Group, Modal, NativeSelect, Stack, Textarea } from '@mantine/core';
import type { TFunction } from 'i18next';
import { useState, type FormEvent, type ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import type { Param } from '../../api/types.ts';
import { nodeOf } from '../../lib/jobPlace.ts';
import { listed } from '../../lib/lists.ts';
import { visible } from '../../lib/visible.ts';
import { NamesField } from '../../parts/NamesField.tsx';
import { ParamInput } from '../../parts/ParamInput.tsx';
import { ProblemNotice } from '../../parts/ProblemNotice.tsx';
import { warningText } from '../../parts/reasonText.ts';
import { runForm } from '../../parts/runRequest.ts';
import { acceptOf, rerunOf, rerunScopes, retryOf, takesParams, type RerunForm, type RerunPreview, type RerunRequest, type RerunScope } from '../requests.ts';
import { PreviewList, PreviewPart } from './PreviewPart.tsx';
import { usePreview } from './usePreview.ts';

/** The name of a node: that of its step, and the number of its item. */
function nodeText(t: TFunction, node: string): string {
  const { step, item } = nodeOf(node);
  return visible(item === undefined ? step : t('rerun.item', { step, item }));
}

// Of a run on several workers, the failed ones run again, or all, which are chosen again.
const workersScopes = ['failed', 'all'] as const;
const workersScope = (scope: RerunScope) => (scope === 'all' ? 'all' : 'failed');

const confirmText = (t: TFunction, scope: RerunScope, count: number) => (scope === 'all' ? t('rerun.verb') : t('rerun.workers.confirm', { count }));

interface Props {
  /** Title or name of the flow. */
  flow: string;
  steps: readonly string[];
  /** Its nodes are workers: it has no steps to choose from. */
  ofWorkers?: boolean | undefined;
  /** Initial scope, and the steps that it names. */
  scope?: RerunScope | undefined;
  picked?: readonly string[] | undefined;
  /** A failed node of a flow run that has not ended, to be started again in it. */
  node?: string | undefined;
  /** Jobs that run after its success. */
  followers?: readonly string[] | undefined;
  /** Its failure is to be accepted in place of that. */
  accepts?: boolean | undefined;
  /** Steps that have failed, which can be accepted. */
  failed?: readonly string[] | undefined;
  /** Parameters of the flow, with their values in the earlier run. */
  params?: Record<string, Param> | undefined;
  given?: Record<string, string> | undefined;
  busy: boolean;
  error: Error | null;
  /** Returns what a request would run and keep. */
  preview: (request: RerunRequest) => Promise<RerunPreview>;
  onSubmit: (request: RerunRequest) => void;
  onClose: () => void;
}

/** Asks which nodes of a flow run to run again, and shows them before it can be confirmed. */
export function RerunDialog({ flow, steps, ofWorkers = false, scope = 'failed', picked = [], node, accepts = false, failed = [], params, given, followers = [], busy, error, preview, onSubmit, onClose }: Props) {
  const { t, i18n } = useTranslation();
  const [before] = useState(() => runForm(params, given ?? {}).params);
  const [form, setForm] = useState<RerunForm>({ scope, steps: picked, definition: 'current', note: '', params: before });
  const requestOf = (of: RerunForm) => (node === undefined ? rerunOf(of, before) : accepts ? acceptOf(node, of.note) : retryOf(node, of.note));
  const request = requestOf(form);
  // The note, and what runs after it, do not change what would run.
  const { ready, error: refused, loading } = usePreview(requestOf({ ...form, note: '', alone: false }), preview);
  const nothing = ready?.runTotal === 0 && !accepts;
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (request && ready && !nothing) onSubmit(request);
  };
  return (
    <Modal opened onClose={onClose} title={node === undefined ? t('rerun.title', { name: visible(flow) }) : t(accepts ? 'rerun.acceptTitle' : 'rerun.retryTitle', { step: nodeText(t, node) })} closeButtonProps={{ 'aria-label': t('common.close') }}>
      <form onSubmit={submit} noValidate>
        <Stack gap="md">
          {node === undefined ? <Choice form={form} steps={steps} failed={failed} params={params} ofWorkers={ofWorkers} onChange={(part) => setForm({ ...form, ...part })} /> : <div>{t(!accepts ? 'rerun.retryText' : nodeOf(node).item === undefined ? 'rerun.acceptText' : 'rerun.acceptItemText')}</div>}
          <Textarea label={t('runDialog.note')} description={t(accepts ? 'rerun.acceptNote' : 'runDialog.noteHelp')} data-autofocus={node !== undefined || undefined} autosize minRows={1} maxRows={4} maxLength={500} value={form.note} onChange={(event) => setForm({ ...form, note: event.currentTarget.value })} />
          {node === undefined && followers.length > 0 && <Checkbox label={t('runDialog.alone')} description={t('runDialog.aloneHelp', { jobs: visible(listed(followers, i18n.language)) })} checked={form.alone ?? false} onChange={(event) => setForm({ ...form, alone: event.currentTarget.checked })} />}
          <PreviewPart title={t('rerun.preview')} loading={loading} error={refused} hint={t('rerun.pickSteps')}>{ready && (ofWorkers ? <PlannedWorkers plan={ready} scope={form.scope} /> : <Planned plan={ready} kept={node === undefined} />)}</PreviewPart>
          {node === undefined && form.scope !== 'all' && (form.restart === true || (ready?.nested?.length ?? 0) > 0) && <Checkbox label={t('rerun.restart')} description={t('rerun.restartHelp')} checked={form.restart ?? false} onChange={(event) => setForm({ ...form, restart: event.currentTarget.checked })} />}
          {error && <ProblemNotice error={error} />}
          <Group justify="flex-end" className="stays">
            <Button variant="default" onClick={onClose}>{t('common.cancel')}</Button>
            <Button type="submit" loading={busy} disabled={!ready || nothing}>{node !== undefined ? t(accepts ? 'rerun.accept' : 'rerun.retry') : ready && !nothing ? (ofWorkers ? confirmText(t, form.scope, ready.runTotal) : t('rerun.confirm', { count: ready.runTotal })) : t('rerun.verb')}</Button>
          </Group>
        </Stack>
      </form>
    </Modal>
  );
}

/** What to run again, and with which definition. */
function Choice({ form, steps, failed, params = {}, ofWorkers, onChange }: { form: RerunForm; steps: readonly string[]; failed: readonly string[]; params: Record<string, Param> | undefined; ofWorkers: boolean; onChange: (part: Partial<RerunForm>) => void }): ReactNode {
  const { t } = useTranslation();
  const mayAccept = !ofWorkers && failed.length > 0;
  return (
    <>
      <NativeSelect
        label={t('rerun.scope')} data-autofocus value={form.scope} description={ofWorkers ? t(`rerun.workers.help.${workersScope(form.scope)}`) : t(`rerun.scopeHelp.${form.scope}`)}
        data={ofWorkers ? workersScopes.map((value) => ({ value, label: t(`rerun.workers.${value}`) })) : rerunScopes.filter((value) => mayAccept || value !== 'accepted').map((value) => ({ value, label: t(`rerun.scopes.${value}`) }))}
        onChange={(event) => onChange({ scope: event.currentTarget.value as RerunScope })}
      />
      {(form.scope === 'from' || form.scope === 'only') && <NamesField label={t('rerun.steps')} known={steps} value={form.steps} nothing={t('rerun.noStep')} onChange={(names) => onChange({ steps: names })} />}
      {mayAccept && form.scope !== 'all' && <NamesField label={t('rerun.accepts')} description={t('rerun.acceptsHelp')} known={failed} value={form.accept ?? []} nothing={t('rerun.noStep')} onChange={(names) => onChange({ accept: names })} />}
      {!ofWorkers && takesParams(form.scope) && Object.entries(params).map(([name, param]) => (
        <ParamInput key={name} name={name} param={param} value={form.params?.[name] ?? ''} error={undefined} first={false} onChange={(value) => onChange({ params: { ...form.params, [name]: value } })} />
      ))}
      <NativeSelect
        label={t('rerun.definition')} description={t(`rerun.definitionHelp.${form.definition}`)} value={form.definition} data={(['current', 'same'] as const).map((value) => ({ value, label: t(`rerun.definitions.${value}`) }))}
        onChange={(event) => onChange({ definition: event.currentTarget.value as RerunForm['definition'] })}
      />
    </>
  );
}

/** The nodes that would run, the steps that are kept, those that are new, and the clean-up steps that are skipped. */
function Planned({ plan: { run, runTotal, kept, keptTotal, cleanUps = [], skipped = [], new: added = [], newTotal = 0, accepted = [], nested = [], warnings = [] }, kept: showsKept }: { plan: RerunPreview; kept: boolean }) {
  const { t, i18n } = useTranslation();
  const list = (title: string, names: readonly string[], total: number) => (
    <>
      <strong>{title}</strong>
      <PreviewList label={title} items={names.map((node) => (cleanUps.includes(node) ? t('rerun.cleanUp', { step: nodeText(t, node) }) : nodeText(t, node)))} total={total} />
    </>
  );
  return (
    <>
      {runTotal === 0 ? accepted.length === 0 && <strong>{t('rerun.nothing')}</strong> : list(t('rerun.runs', { count: runTotal }), run, runTotal)}
      {nested.map(({ node, runTotal: runs, keptTotal: keeps }) => <div key={node} className="break" data-nested={node}>{t('rerun.goesOn', { step: nodeText(t, node), runs, keeps })}</div>)}
      {showsKept && keptTotal > 0 && list(t('rerun.keeps', { count: keptTotal }), kept, keptTotal)}
      {showsKept && keptTotal === 0 && <div>{t('rerun.keepsNone')}</div>}
      {newTotal > 0 && list(t('rerun.adds', { count: newTotal }), added, newTotal)}
      {skipped.length > 0 && list(t('rerun.skips', { count: skipped.length }), skipped, skipped.length)}
      {accepted.length > 0 && list(t('rerun.accepted', { count: accepted.length }), accepted, accepted.length)}
      {warnings.map((warning) => <div key={`${warning.code} ${warning.text}`} className="break" data-warning={warning.code}>{warningText(t, i18n.language, warning)}</div>)}
    </>
  );
}

/** The workers that would run it again; of all workers it is not known which they will be. */
function PlannedWorkers({ plan: { run, runTotal }, scope }: { plan: RerunPreview; scope: RerunScope }) {
  const { t } = useTranslation();
  if (runTotal === 0) return <strong>{t('rerun.nothing')}</strong>;
  if (scope === 'all') return <div>{t('rerun.workers.help.all')}</div>;
  const title = t('rerun.workers.runs', { count: runTotal });
  return (
    <>
      <strong>{title}</strong>
      <PreviewList label={title} items={run.map(visible)} total={runTotal} />
    </>
  );
}
