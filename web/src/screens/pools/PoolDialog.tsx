import { Button, Group, Modal, NumberInput, Stack, TextInput } from '@mantine/core';
import { useState, type FormEvent } from 'react';
import { useTranslation } from 'react-i18next';
import { Problem } from '../../api/problem.ts';
import { useSavePool } from '../../api/pools.ts';
import type { Pool } from '../../api/types.ts';
import { visible } from '../../lib/visible.ts';
import { fieldFaults } from '../../parts/fieldFaults.ts';
import { ProblemNotice } from '../../parts/ProblemNotice.tsx';
import { showNotice } from '../../parts/showNotice.ts';

const fields = ['name', 'slots', 'group'] as const;

interface Props {
  /** Absent for a new one. */
  pool?: Pool | undefined;
  onClose: () => void;
}

/** Creates a pool, or changes its slots and group. */
export function PoolDialog({ pool, onClose }: Props) {
  const { t, i18n } = useTranslation();
  const save = useSavePool();
  const [form, setForm] = useState({ name: pool?.name ?? '', slots: pool?.slots ?? 5, group: pool?.group ?? '' });
  const { at, rest } = fieldFaults(t, i18n.language, save.error, fields);
  const refused = save.error instanceof Problem ? save.error.code : undefined;
  const set = (part: Partial<typeof form>) => {
    setForm({ ...form, ...part });
    if (save.isError) save.reset();
  };
  const submit = (event: FormEvent) => {
    event.preventDefault();
    save.mutate({ name: form.name.trim(), definition: { slots: form.slots, ...(form.group.trim() && { group: form.group.trim() }) }, version: pool?.version }, {
      onSuccess: (saved) => {
        showNotice(t, t('pools.saved', { name: visible(saved.name) }));
        onClose();
      },
    });
  };
  return (
    <Modal opened onClose={onClose} title={pool ? t('pools.editTitle', { name: visible(pool.name) }) : t('pools.newTitle')} closeButtonProps={{ 'aria-label': t('common.close') }}>
      <form onSubmit={submit} noValidate autoComplete="off">
        <Stack gap="md">
          {!pool && (
            <TextInput
              label={t('pools.name')} placeholder="reports-db" required data-autofocus spellCheck={false} autoCapitalize="none" autoComplete="off" maxLength={128}
              value={form.name} error={refused === 'stale' ? t('pools.nameTaken') : at('name')} onChange={(e) => set({ name: e.currentTarget.value })}
            />
          )}
          <NumberInput label={t('pools.slots')} description={t('pools.slotsHelp')} required min={1} max={1000} allowDecimal={false} value={form.slots} error={at('slots')} onChange={(value) => set({ slots: Number(value) })} />
          <TextInput label={t('pools.group')} description={t('pools.groupHelp')} spellCheck={false} autoCapitalize="none" maxLength={128} value={form.group} error={at('group')} onChange={(e) => set({ group: e.currentTarget.value })} />
          {refused === 'stale' && pool && <p role="alert">{t('pools.stale')}</p>}
          {save.error && refused !== 'stale' && (refused !== 'invalid' || rest.length > 0) && <ProblemNotice error={save.error} faults={rest} />}
          <Group justify="flex-end">
            <Button variant="default" onClick={onClose}>{t('common.cancel')}</Button>
            <Button type="submit" loading={save.isPending}>{t(pool ? 'pools.save' : 'pools.create')}</Button>
          </Group>
        </Stack>
      </form>
    </Modal>
  );
}
