import { Button, Group, Modal, Select, SegmentedControl, Stack, Textarea, TextInput } from '@mantine/core';
import { useState, type FormEvent } from 'react';
import { useTranslation } from 'react-i18next';
import { useGroups } from '../../api/jobList.ts';
import { useSaveWindow } from '../../api/maintenance.ts';
import { Problem } from '../../api/problem.ts';
import type { MaintenanceWindow } from '../../api/types.ts';
import { localZone } from '../../lib/localTime.ts';
import { visible } from '../../lib/visible.ts';
import { fieldFaults } from '../../parts/fieldFaults.ts';
import { NamesField } from '../../parts/NamesField.tsx';
import { ProblemNotice } from '../../parts/ProblemNotice.tsx';
import { showNotice } from '../../parts/showNotice.ts';
import { WhenField } from '../../parts/WhenField.tsx';
import { definitionOfWindow, windowForm, type Scope, type WindowForm } from './windowForm.ts';

const fields = ['name', 'groups', 'selector', 'workers', 'from', 'to', 'cronExpr', 'timezone', 'duration', 'note'] as const;
const scopes = ['groups', 'selector', 'workers', 'everything'] as const;

interface Props {
  /** Absent for a new one. */
  window?: MaintenanceWindow | undefined;
  /** The names of the workers. */
  workers: readonly string[];
  onClose: () => void;
}

/** Creates a maintenance window, or changes one. */
export function WindowDialog({ window, workers, onClose }: Props) {
  const { t, i18n } = useTranslation();
  const save = useSaveWindow();
  const groups = useGroups().data?.items.map(({ name }) => name).filter((name) => name !== '') ?? [];
  const [form, setForm] = useState(() => windowForm(window, Date.now(), localZone()));
  const { at, rest } = fieldFaults(t, i18n.language, save.error, fields);
  const refused = save.error instanceof Problem ? save.error.code : undefined;
  const set = (part: Partial<WindowForm>) => {
    setForm({ ...form, ...part });
    if (save.isError) save.reset();
  };
  const submit = (event: FormEvent) => {
    event.preventDefault();
    save.mutate({ name: form.name.trim(), definition: definitionOfWindow(form), version: window?.version }, {
      onSuccess: (saved) => {
        showNotice(t, t(window ? 'maintenance.saved' : 'maintenance.made', { name: visible(saved.name) }));
        onClose();
      },
    });
  };
  const plain = { spellCheck: false, autoCapitalize: 'none', autoComplete: 'off' } as const;
  return (
    <Modal opened onClose={onClose} title={window ? t('maintenance.editTitle', { name: visible(window.name) }) : t('maintenance.newTitle')} closeButtonProps={{ 'aria-label': t('common.close') }}>
      <form onSubmit={submit} noValidate autoComplete="off">
        <Stack gap="md">
          {!window && (
            <TextInput
              label={t('maintenance.name')} placeholder="db-upgrade" required data-autofocus {...plain} maxLength={128}
              value={form.name} error={refused === 'stale' ? t('maintenance.nameTaken') : at('name')} onChange={(e) => set({ name: e.currentTarget.value })}
            />
          )}
          <Select
            label={t('maintenance.affects')} allowDeselect={false} data={scopes.map((value) => ({ value, label: t(`maintenance.scopes.${value}`) }))}
            value={form.scope} onChange={(value) => value && set({ scope: value as Scope })}
          />
          {form.scope === 'groups' && <NamesField label={t('maintenance.groups')} known={groups} value={form.groups} error={at('groups') ?? (rest.length > 0 && form.groups.length === 0 ? t('maintenance.noGroup') : undefined)} onChange={(next) => set({ groups: next })} free />}
          {form.scope === 'selector' && <TextInput label={t('maintenance.selector')} placeholder="team=data" {...plain} value={form.selector} error={at('selector')} onChange={(e) => set({ selector: e.currentTarget.value })} />}
          {form.scope === 'workers' && <NamesField label={t('maintenance.workers')} description={t('maintenance.workersHelp')} known={workers} value={form.workers} error={at('workers')} onChange={(next) => set({ workers: next })} free />}
          <SegmentedControl
            aria-label={t('maintenance.when')} value={form.recurs ? 'again' : 'once'} onChange={(value) => set({ recurs: value === 'again' })}
            data={[{ value: 'once', label: t('maintenance.once') }, { value: 'again', label: t('maintenance.again') }]}
          />
          {form.recurs ? (
            <>
              <TextInput label={t('maintenance.cronExpr')} {...plain} value={form.cronExpr} error={at('cronExpr')} onChange={(e) => set({ cronExpr: e.currentTarget.value })} />
              <Group grow align="start">
                <TextInput label={t('maintenance.timezone')} {...plain} value={form.timezone} error={at('timezone')} onChange={(e) => set({ timezone: e.currentTarget.value })} />
                <TextInput label={t('maintenance.duration')} {...plain} value={form.duration} error={at('duration')} onChange={(e) => set({ duration: e.currentTarget.value })} />
              </Group>
            </>
          ) : (
            <>
              <WhenField label={t('maintenance.from')} description={t('maintenance.fromHelp', { zone: localZone() })} value={form.from} error={at('from')} onChange={(from) => set({ from })} />
              <WhenField label={t('maintenance.to')} value={form.to} error={at('to')} onChange={(to) => set({ to })} />
            </>
          )}
          {form.scope !== 'workers' && (
            <Select
              label={t('maintenance.policy')} allowDeselect={false} data={(['hold', 'skip'] as const).map((value) => ({ value, label: t(`maintenance.policies.${value}`) }))}
              value={form.policy} onChange={(value) => value && set({ policy: value as WindowForm['policy'] })}
            />
          )}
          <Textarea label={t('maintenance.note')} description={t('maintenance.noteHelp')} autosize minRows={1} maxRows={4} maxLength={500} value={form.note} error={at('note')} onChange={(e) => set({ note: e.currentTarget.value })} />
          {refused === 'stale' && window && <p role="alert">{t('maintenance.stale')}</p>}
          {save.error && refused !== 'stale' && (refused !== 'invalid' || rest.length > 0) && <ProblemNotice error={save.error} faults={rest} />}
          <Group justify="flex-end">
            <Button variant="default" onClick={onClose}>{t('common.cancel')}</Button>
            <Button type="submit" loading={save.isPending} disabled={form.name.trim() === ''}>{t(window ? 'editor.save' : 'maintenance.create')}</Button>
          </Group>
        </Stack>
      </form>
    </Modal>
  );
}
