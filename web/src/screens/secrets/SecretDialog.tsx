import { Button, Group, Modal, Stack, Switch, Textarea, TextInput } from '@mantine/core';
import { useState, type FormEvent } from 'react';
import { useTranslation } from 'react-i18next';
import { useGroups } from '../../api/jobList.ts';
import { Problem } from '../../api/problem.ts';
import { useSaveSecret } from '../../api/secrets.ts';
import type { Secret } from '../../api/types.ts';
import { visible } from '../../lib/visible.ts';
import { fieldFaults } from '../../parts/fieldFaults.ts';
import { NamesField } from '../../parts/NamesField.tsx';
import { ProblemNotice } from '../../parts/ProblemNotice.tsx';
import { showNotice } from '../../parts/showNotice.ts';
import { definitionOfSecret, secretForm, type SecretForm } from './secretForm.ts';
import classes from './secrets.module.css';

const fields = ['name', 'value', 'description', 'groups'] as const;

interface Props {
  /** Absent for a new one. */
  secret?: Secret | undefined;
  onClose: () => void;
}

/** Creates a secret, or replaces its value, groups or description. The value is never shown again. */
export function SecretDialog({ secret, onClose }: Props) {
  const { t, i18n } = useTranslation();
  const save = useSaveSecret();
  const groups = useGroups().data?.items.map(({ name }) => name).filter((name) => name !== '') ?? [];
  const [form, setForm] = useState(() => secretForm(secret));
  const [hidden, setHidden] = useState(true);
  const { at, rest } = fieldFaults(t, i18n.language, save.error, fields);
  const refused = save.error instanceof Problem ? save.error.code : undefined;
  const set = (part: Partial<SecretForm>) => {
    setForm({ ...form, ...part });
    if (save.isError) save.reset();
  };
  const name = form.name.trim();
  const submit = (event: FormEvent) => {
    event.preventDefault();
    save.mutate({ name, definition: definitionOfSecret(form), version: secret?.version }, {
      onSuccess: (saved) => {
        showNotice(t, t(secret ? 'secrets.saved' : 'secrets.made', { name: visible(saved.name) }));
        onClose();
      },
    });
  };
  return (
    <Modal opened onClose={onClose} title={secret ? t('secrets.editTitle', { name: visible(secret.name) }) : t('secrets.newTitle')} closeButtonProps={{ 'aria-label': t('common.close') }}>
      <form onSubmit={submit} noValidate autoComplete="off">
        <Stack gap="md">
          {!secret && (
            <TextInput
              label={t('secrets.name')} description={t('secrets.nameHelp', { name: name || 'NAME' })} placeholder="db-password" required data-autofocus spellCheck={false} autoCapitalize="none" autoComplete="off" maxLength={128}
              value={form.name} error={refused === 'stale' ? t('secrets.nameTaken') : at('name')} onChange={(e) => set({ name: e.currentTarget.value })}
            />
          )}
          <div className={classes.value}>
            <Textarea
              label={t(secret ? 'secrets.newValue' : 'secrets.value')} description={t(secret ? 'secrets.newValueHelp' : 'secrets.valueHelp')} required={!secret} autosize minRows={1} maxRows={8}
              className={hidden ? classes.hidden : classes.mono} spellCheck={false} autoCapitalize="none" autoComplete="off" data-secret-value="" {...(secret && { 'data-autofocus': true })}
              value={form.value} error={at('value')} onChange={(e) => set({ value: e.currentTarget.value })}
            />
            <Switch size="xs" label={t('secrets.hide')} checked={hidden} onChange={(e) => setHidden(e.currentTarget.checked)} />
          </div>
          <NamesField label={t('secrets.groups')} description={t('secrets.groupsHelp')} placeholder={form.groups.length === 0 ? t('secrets.allGroups') : undefined} known={groups} value={form.groups} error={at('groups')} onChange={(next) => set({ groups: next })} free />
          <TextInput label={t('secrets.description')} description={t('secrets.descriptionHelp')} maxLength={200} value={form.description} error={at('description')} onChange={(e) => set({ description: e.currentTarget.value })} />
          {refused === 'stale' && secret && <p role="alert">{t('secrets.stale')}</p>}
          {save.error && refused !== 'stale' && (refused !== 'invalid' || rest.length > 0) && <ProblemNotice error={save.error} faults={rest} />}
          <Group justify="flex-end">
            <Button variant="default" onClick={onClose}>{t('common.cancel')}</Button>
            <Button type="submit" loading={save.isPending}>{t(secret ? 'editor.save' : 'secrets.create')}</Button>
          </Group>
        </Stack>
      </form>
    </Modal>
  );
}
