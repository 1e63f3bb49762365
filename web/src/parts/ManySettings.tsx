import { Alert, Autocomplete, Button, Checkbox, Group, Modal, SegmentedControl, Stack, Switch, TagsInput, TextInput } from '@mantine/core';
import { Link, useBlocker } from '@tanstack/react-router';
import { useState, type FormEvent, type ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { useChannels } from '../api/channels.ts';
import { events } from '../api/jobs.ts';
import { useGroupNames } from '../api/names.ts';
import { useManyReview, usePatchJobs, type ManyChange } from '../api/manyJobs.ts';
import { Problem } from '../api/problem.ts';
import type { PatchAnswer, Patched } from '../api/types.ts';
import { useWorkers } from '../api/workers.ts';
import { sentences } from '../lib/lists.ts';
import { commonOf, inOneLine, labelNames, oneGroup, patchOf, settingSections, usualSettings, type Settings, type SettingSection, type SettingsForm } from '../lib/manySettings.ts';
import { visible } from '../lib/visible.ts';
import { ChannelDialog } from './ChannelDialog.tsx';
import { Effect } from './DefaultsReview.tsx';
import { Icon } from './icons.tsx';
import classes from './ManySettings.module.css';
import { NamesField } from './NamesField.tsx';
import { ProblemNotice } from './ProblemNotice.tsx';
import { faultText, problemText } from './problemText.ts';
import { useSession } from './session.ts';
import { Waiting } from './Waiting.tsx';

interface Props {
  jobs: readonly Settings[];
  /** Number of selected jobs without sufficient permission. */
  leftOut?: number;
  /** Only this section is shown, and switched on. */
  only?: SettingSection;
  onClose: (done: boolean) => void;
}

/** Changes settings of many jobs: a form, the review of its effect, and the result for each job. */
export function ManySettings({ jobs, leftOut = 0, only, onClose }: Props) {
  const { t } = useTranslation();
  const [form, setForm] = useState<SettingsForm>({ ...usualSettings, on: new Set(only ? [only] : []) });
  const [change, setChange] = useState<ManyChange>();
  const [done, setDone] = useState<PatchAnswer>();
  const save = usePatchJobs();
  // What is being changed goes on, and its result is to be seen.
  useBlocker({ disabled: !save.isPending, shouldBlockFn: () => true, enableBeforeUnload: true });
  const title = done ? t('manyJobs.doneTitle') : change ? t('manyJobs.reviewTitle', { count: jobs.length }) : t(only === 'notify' ? 'manyJobs.notifyTitle' : 'manyJobs.title', { count: jobs.length });
  return (
    <Modal opened size={change ? 'xl' : 'lg'} onClose={() => !save.isPending && onClose(done !== undefined)} closeOnClickOutside={false} title={title} closeButtonProps={{ 'aria-label': t('common.close') }}>
      {done ? <Outcome answer={done} onClose={() => onClose(true)} />
        : change ? <Review change={change} save={save} onBack={() => setChange(undefined)} onDone={setDone} />
          : <Form jobs={jobs} leftOut={leftOut} only={only} form={form} onForm={setForm} onCancel={() => onClose(false)} onNext={() => setChange({ jobs: jobs.map(({ name }) => name), patch: patchOf(form) })} />}
    </Modal>
  );
}

interface FormProps {
  jobs: readonly Settings[];
  leftOut: number;
  only: SettingSection | undefined;
  form: SettingsForm;
  onForm: (form: SettingsForm) => void;
  onCancel: () => void;
  onNext: () => void;
}

function Form({ jobs, leftOut, only, form, onForm, onCancel, onNext }: FormProps) {
  const { t } = useTranslation();
  const set = (part: Partial<SettingsForm>) => onForm({ ...form, ...part });
  const empty = jobs.length === 0 || Object.keys(patchOf(form)).length === 0 || (form.on.has('notify') && !form.unset.has('notify') && (form.channels.length === 0 || form.events.length === 0));
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (!empty) onNext();
  };
  const group = oneGroup(jobs);
  const fields: Record<SettingSection, ReactNode> = {
    notify: <Alerts form={form} set={set} />,
    group: <GroupField form={form} set={set} />,
    labels: <Labels jobs={jobs} form={form} set={set} />,
    retry: (
      <div className={classes.pair}>
        <TextInput label={t('editor.retryMax')} inputMode="numeric" value={form.max} onChange={(e) => set({ max: e.currentTarget.value })} />
        <TextInput label={t('editor.retryBackoff')} placeholder="30s" spellCheck={false} value={form.backoff} onChange={(e) => set({ backoff: e.currentTarget.value })} />
      </div>
    ),
    timeout: <TextInput label={t('editor.timeout')} placeholder="1h" spellCheck={false} value={form.timeout} onChange={(e) => set({ timeout: e.currentTarget.value })} />,
    placement: <Placement form={form} set={set} />,
  };
  return (
    <form onSubmit={submit} noValidate>
      <Stack gap="sm">
        {leftOut > 0 && <Alert color="yellow" variant="light">{t('manyJobs.leftOut', { count: leftOut })}</Alert>}
        {!only && <p className="small dim">{t('manyJobs.help')}</p>}
        {settingSections.filter((section) => !only || section === only).map((section) => (
          <Section key={section} section={section} jobs={jobs} form={form} set={set} alone={only === section}>{fields[section]}</Section>
        ))}
        {only === 'notify' && group !== undefined && (
          <p className="small dim">{t('manyJobs.asDefault')} <Link to="/defaults/edit" search={{ group, section: 'notify' }}>{t('manyJobs.defaultsOf', { group: visible(group) })}</Link></p>
        )}
        <Group justify="flex-end" className="stays">
          <Button variant="default" onClick={onCancel}>{t('common.cancel')}</Button>
          <Button type="submit" disabled={empty}>{t('manyJobs.review')}</Button>
        </Group>
      </Stack>
    </form>
  );
}

interface FieldProps {
  form: SettingsForm;
  set: (part: Partial<SettingsForm>) => void;
}

/** Settings that are off until they are switched on, with the value that the jobs have in common. */
function Section({ section, jobs, form, set, alone, children }: FieldProps & { section: SettingSection; jobs: readonly Settings[]; alone: boolean; children: ReactNode }) {
  const { t } = useTranslation();
  const on = form.on.has(section);
  const { mixed, value } = commonOf(jobs, section);
  const flip = (all: ReadonlySet<SettingSection>, has: boolean) => new Set(settingSections.filter((one) => (one === section ? has : all.has(one))));
  const inherits = section !== 'group' && section !== 'labels';
  const now = mixed ? t('manyJobs.mixed') : value === undefined ? t('manyJobs.notSet') : visible(inOneLine(value));
  return (
    <div role="group" className={classes.section} aria-label={t(`manyJobs.sections.${section}`)} data-section={section}>
      {!alone && (
        <div className={classes.head}>
          <Switch label={t(`manyJobs.sections.${section}`)} checked={on} onChange={(e) => set({ on: flip(form.on, e.currentTarget.checked) })} />
          <span className={`small dim ${classes.now}`}>{now}</span>
        </div>
      )}
      {on && (
        <Stack gap="xs" className={alone ? undefined : classes.body}>
          {inherits && !alone && (
            <SegmentedControl
              size="xs" aria-label={t('manyJobs.how', { section: t(`manyJobs.sections.${section}`) })} value={form.unset.has(section) ? 'unset' : 'set'} data={[{ value: 'set', label: t('manyJobs.set') }, { value: 'unset', label: t('manyJobs.unset') }]}
              onChange={(how) => set({ unset: flip(form.unset, how === 'unset') })}
            />
          )}
          {form.unset.has(section) ? <p className="small dim">{t('manyJobs.unsetHelp')}</p> : children}
        </Stack>
      )}
    </div>
  );
}

function Alerts({ form, set }: FieldProps) {
  const { t } = useTranslation();
  const admin = useSession().role === 'admin';
  const channels = useChannels().data?.items;
  const [making, setMaking] = useState(false);
  return (
    <>
      <NamesField
        label={t('editor.notifyTo')} description={t('editor.notifyToHelp')} known={(channels ?? []).map(({ name }) => name)} value={form.channels} nothing={t(channels?.length === 0 ? 'editor.noChannels' : 'editor.noSuchChannel')}
        onChange={(names) => set({ channels: names })}
      />
      {channels?.length === 0 && !admin && <p className="small dim">{t('editor.noChannelsAsk')}</p>}
      {admin && <div><Button size="xs" variant="default" leftSection={<Icon name="plus" size={14} />} onClick={() => setMaking(true)}>{t('channels.newEllipsis')}</Button></div>}
      <Checkbox.Group label={t('editor.notifyOn')} description={t('editor.notifyOnHelp')} value={[...form.events]} onChange={(chosen) => set({ events: events.filter((event) => chosen.includes(event)) })}>
        <div className={classes.checks}>{events.map((event) => <Checkbox key={event} value={event} label={t(`editor.events.${event}`)} />)}</div>
      </Checkbox.Group>
      {making && (
        // Events of the dialog are not for this form, which is above it in React's tree.
        <div onSubmit={(e) => e.stopPropagation()} onKeyDown={(e) => e.stopPropagation()}>
          <ChannelDialog onSaved={({ name }) => set({ channels: [...new Set([...form.channels, name])] })} onClose={() => setMaking(false)} />
        </div>
      )}
    </>
  );
}

function GroupField({ form, set }: FieldProps) {
  const { t } = useTranslation();
  return <Autocomplete label={t('manyJobs.group')} description={t('manyJobs.groupHelp')} data={[...useGroupNames()]} limit={50} maxLength={128} spellCheck={false} autoCapitalize="none" data-autofocus value={form.group} onChange={(group) => set({ group })} />;
}

function Labels({ jobs, form, set }: FieldProps & { jobs: readonly Settings[] }) {
  const { t } = useTranslation();
  return (
    <>
      <TagsInput label={t('manyJobs.addLabels')} description={t('manyJobs.addLabelsHelp')} value={[...form.labels]} splitChars={[',', ' ']} acceptValueOnBlur spellCheck={false} autoCapitalize="none" clearButtonProps={{ 'aria-label': t('names.removeAll') }} onChange={(labels) => set({ labels: labels.filter((label) => label.indexOf('=') > 0) })} />
      <NamesField label={t('manyJobs.removeLabels')} known={labelNames(jobs)} value={form.without} onChange={(without) => set({ without })} />
    </>
  );
}

function Placement({ form, set }: FieldProps) {
  const { t } = useTranslation();
  const workers = (useWorkers().data?.items ?? []).map(({ name }) => name);
  return (
    <>
      <TextInput label={t('manyJobs.selector')} placeholder="zone=eu" spellCheck={false} autoCapitalize="none" value={form.selector} onChange={(e) => set({ selector: e.currentTarget.value })} />
      <NamesField free label={t('manyJobs.workers')} known={workers} value={form.workers} onChange={(names) => set({ workers: names })} />
    </>
  );
}

/** The effect of the change, before it is made. */
function Review({ change, save, onBack, onDone }: { change: ManyChange; save: ReturnType<typeof usePatchJobs>; onBack: () => void; onDone: (answer: PatchAnswer) => void }) {
  const { t, i18n } = useTranslation();
  const review = useManyReview(change);
  const error = save.error ?? review.error;
  const stale = error instanceof Problem && error.status === 412;
  const again = () => {
    save.reset();
    void review.refetch();
  };
  const changed = review.data?.changed ?? 0;
  return (
    <Stack gap="md" data-many-review="">
      {review.isPending && <Waiting rows={3} />}
      {error && <ProblemNotice error={error} {...((stale || review.error) && { onRetry: again })} />}
      {review.data?.review && <Effect review={review.data.review} ofDefaults={false} />}
      {review.data && review.data.unchanged > 0 && <p className="small dim">{t('manyJobs.unchanged', { count: review.data.unchanged })}</p>}
      {review.data?.warnings && (
        <Alert color="yellow" variant="light" icon={<Icon name="warn" />} role="alert">
          {review.data.warnings.map((warning, i) => <div key={i}>{visible(faultText(t, i18n.language, warning))}</div>)}
        </Alert>
      )}
      <Group justify="flex-end" className="stays">
        <Button variant="default" disabled={save.isPending} onClick={() => { save.reset(); onBack(); }}>{t('manyJobs.back')}</Button>
        <Button data-autofocus loading={save.isPending} disabled={changed === 0 || stale} onClick={() => save.mutate({ change, digest: review.data?.digest }, { onSuccess: onDone })}>{t('manyJobs.confirm', { count: changed })}</Button>
      </Group>
    </Stack>
  );
}

/** The number of changed jobs, and those that were refused with the reason. */
function Outcome({ answer, onClose }: { answer: PatchAnswer; onClose: () => void }) {
  const { t } = useTranslation();
  const admin = useSession().role === 'admin';
  const failed = answer.items.filter(({ refusal }) => refusal);
  return (
    <Stack gap="md" data-many-outcome="">
      <div role="status">
        <strong>{t('manyJobs.changed', { count: answer.changed })}</strong>
        {answer.unchanged > 0 && <div>{t('manyJobs.unchanged', { count: answer.unchanged })}</div>}
        {failed.length > 0 && <div>{t('manyJobs.refused', { count: failed.length })}</div>}
      </div>
      {failed.length > 0 && <ul className={classes.failed} aria-label={t('manyJobs.refusedJobs')}>{failed.slice(0, 200).map((item) => <Failed key={item.name} item={item} />)}</ul>}
      <Group justify="flex-end">
        {admin && answer.changed > 0 && <Link to="/access" search={{ tab: 'audit', kind: 'job', verb: 'patch' }}>{t('manyJobs.audit')}</Link>}
        <Button data-autofocus onClick={onClose}>{t('common.close')}</Button>
      </Group>
    </Stack>
  );
}

function Failed({ item: { name, result, refusal } }: { item: Patched }) {
  const { t, i18n } = useTranslation();
  if (!refusal) return null;
  const { text, hint } = problemText(t, i18n.language, new Problem(0, { code: refusal.code, detail: refusal.detail, hint: refusal.hint, reason: refusal.reason, data: refusal.data, errors: [] }));
  const faults = (refusal.errors ?? []).map((f) => faultText(t, i18n.language, { location: f.location ?? '', message: f.message ?? '', code: f.code, hint: f.hint, data: f.data }));
  return <li className="break" data-refused={name}><Link to="/jobs/$name" params={{ name }} target="_blank">{visible(name)}</Link> {result === 'unknown' && `${t('jobs.bulk.notKnown')} `}{visible(sentences([text, hint, ...faults], i18n.language))}</li>;
}
