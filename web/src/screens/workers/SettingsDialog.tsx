import { ActionIcon, Button, Group, Modal, Stack, Switch, TextInput } from '@mantine/core';
import { useState, type FormEvent } from 'react';
import { useTranslation } from 'react-i18next';
import { Problem } from '../../api/problem.ts';
import type { Worker } from '../../api/types.ts';
import { useChangeWorker } from '../../api/workers.ts';
import { labelsFor } from '../../lib/labelSelector.ts';
import { sentences } from '../../lib/lists.ts';
import { visible } from '../../lib/visible.ts';
import { Icon } from '../../parts/icons.tsx';
import { ProblemNotice } from '../../parts/ProblemNotice.tsx';
import { faultText } from '../../parts/problemText.ts';
import { showNotice } from '../../parts/showNotice.ts';
import { patchOf, settingsFaults, settingsForm, withLabels, type LabelRow } from './settings.ts';
import classes from './WorkersPage.module.css';

/** An operator's settings of a worker, which override its own; begun with the labels that a job requires, if given. */
export function SettingsDialog({ worker, label, onClose }: { worker: Worker; label: string | undefined; onClose: () => void }) {
  const { t, i18n } = useTranslation();
  const change = useChangeWorker();
  const [before] = useState(() => settingsForm(worker));
  const [form, setForm] = useState(() => withLabels(before, label === undefined ? {} : labelsFor(label)));
  const own = settingsFaults(form);
  const faults = change.error instanceof Problem ? change.error.faults : [];
  const errorAt = (field: 'slots' | 'weight' | 'labels') => {
    const fault = own[field];
    if (fault) return t(`workers.faults.${fault}`);
    return sentences(faults.filter((f) => f.location === field || f.location.startsWith(`${field}.`)).map((f) => visible(faultText(t, i18n.language, f))), i18n.language) || undefined;
  };
  const elsewhere = faults.filter((f) => !/^(slots|weight|labels)(\.|$)/.test(f.location));
  const set = (part: Partial<typeof form>) => {
    setForm({ ...form, ...part });
    if (change.isError) change.reset();
  };
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (Object.keys(own).length > 0) return;
    const patch = patchOf(before, form);
    if (Object.keys(patch).length === 0) return onClose();
    change.mutate(
      { id: worker.id, change: { act: 'set', patch } },
      {
        onSuccess: () => {
          showNotice(t, t('workers.saved', { name: visible(worker.name || worker.id) }));
          onClose();
        },
      },
    );
  };
  return (
    <Modal opened onClose={onClose} title={t('workers.settingsTitle', { name: visible(worker.name || worker.id) })} closeButtonProps={{ 'aria-label': t('common.close') }}>
      <form onSubmit={submit} noValidate>
        <Stack gap="md">
          <TextInput label={t('workers.slots')} description={t('workers.slotsHelp')} inputMode="numeric" data-autofocus value={form.slots} error={errorAt('slots')} onChange={(e) => set({ slots: e.currentTarget.value })} />
          <TextInput label={t('workers.weight')} description={t('workers.weightHelp')} inputMode="numeric" value={form.weight} error={errorAt('weight')} onChange={(e) => set({ weight: e.currentTarget.value })} />
          <Switch label={t('workers.ownLabels')} description={t('workers.ownLabelsHelp')} checked={form.ownLabels} onChange={(e) => set({ ownLabels: e.currentTarget.checked })} />
          {!form.ownLabels && <Labels rows={form.labels} error={errorAt('labels')} onChange={(labels) => set({ labels })} />}
          {change.error && (faults.length === 0 || elsewhere.length > 0) && <ProblemNotice error={change.error} faults={elsewhere} />}
          <Group justify="flex-end">
            <Button variant="default" onClick={onClose}>{t('common.cancel')}</Button>
            <Button type="submit" loading={change.isPending}>{t('editor.save')}</Button>
          </Group>
        </Stack>
      </form>
    </Modal>
  );
}

function Labels({ rows, error, onChange }: { rows: LabelRow[]; error: string | undefined; onChange: (rows: LabelRow[]) => void }) {
  const { t } = useTranslation();
  const change = (at: number, part: Partial<LabelRow>) => onChange(rows.map((row, i) => (i === at ? { ...row, ...part } : row)));
  return (
    <fieldset className={classes.fieldset}>
      <legend className={classes.legend}>{t('job.labels')}</legend>
      {rows.map((row, i) => (
        <div key={i} className={classes.row}>
          <TextInput aria-label={t('workers.labelNameOf', { n: i + 1 })} placeholder="zone" value={row.name} spellCheck={false} autoCapitalize="none" onChange={(e) => change(i, { name: e.currentTarget.value })} />
          <TextInput aria-label={t('workers.labelValueOf', { n: i + 1 })} placeholder="a" value={row.value} spellCheck={false} autoCapitalize="none" onChange={(e) => change(i, { value: e.currentTarget.value })} />
          <ActionIcon variant="subtle" color="gray" size="lg" aria-label={t('workers.labelRemove', { n: i + 1 })} onClick={() => onChange(rows.filter((_, at) => at !== i))}>
            <Icon name="close" size={16} />
          </ActionIcon>
        </div>
      ))}
      <Button size="xs" variant="default" leftSection={<Icon name="plus" size={14} />} onClick={() => onChange([...rows, { name: '', value: '' }])}>{t('workers.labelAdd')}</Button>
      {error && <p className={classes.error} role="alert">{error}</p>}
    </fieldset>
  );
}
