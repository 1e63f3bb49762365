import { Button, Group, Modal, NativeSelect, Stack, Switch, TextInput } from '@mantine/core';
import { useState, type FormEvent } from 'react';
import { useTranslation } from 'react-i18next';
import { Problem } from '../../api/problem.ts';
import type { Role, User } from '../../api/types.ts';
import { roles, useChangeUser } from '../../api/users.ts';
import { visible } from '../../lib/visible.ts';
import { fieldFaults } from '../../parts/fieldFaults.ts';
import { ProblemNotice } from '../../parts/ProblemNotice.tsx';
import { showNotice } from '../../parts/showNotice.ts';
import { GrantFields } from './GrantFields.tsx';
import { PasswordField } from './PasswordField.tsx';
import { definitionOfUser, patchOfUser, userForm } from './userForm.ts';

const fields = ['name', 'title', 'role', 'groups', 'password', 'disabled'] as const;

interface Props {
  /** Absent for a new one. */
  user: User | undefined;
  onMade?: (name: string) => void;
  onClose: () => void;
}

/** Creates or changes a user. */
export function UserDialog({ user, onMade, onClose }: Props) {
  const { t, i18n } = useTranslation();
  const change = useChangeUser();
  const [before] = useState(() => userForm(user));
  const [form, setForm] = useState(before);
  const { at, rest } = fieldFaults(t, i18n.language, change.error, fields);
  const refused = change.error instanceof Problem ? change.error.code : undefined;
  const set = (part: Partial<typeof form>) => {
    setForm({ ...form, ...part });
    if (change.isError) change.reset();
  };
  const submit = (event: FormEvent) => {
    event.preventDefault();
    const done = (message: string) => ({
      onSuccess: () => {
        showNotice(t, message);
        if (!user) onMade?.(form.name.trim());
        onClose();
      },
    });
    if (!user) return change.mutate({ act: 'create', user: definitionOfUser(form) }, done(t('users.made', { name: visible(form.name.trim()) })));
    const patch = patchOfUser(before, form);
    if (Object.keys(patch).length === 0) return onClose();
    change.mutate({ act: 'patch', user, patch }, done(t('users.saved', { name: visible(user.name) })));
  };
  const named = refused === 'exists' ? t('editor.nameTaken') : at('name');
  return (
    <Modal opened onClose={onClose} title={user ? t('users.editTitle', { name: visible(user.name) }) : t('users.newTitle')} closeButtonProps={{ 'aria-label': t('common.close') }}>
      <form onSubmit={submit} noValidate>
        <Stack gap="md">
          {!user && (
            <TextInput
              label={t('users.name')} description={t('users.nameHelp')} required data-autofocus spellCheck={false} autoCapitalize="none" autoComplete="off" value={form.name} error={named}
              onChange={(e) => set({ name: e.currentTarget.value })}
            />
          )}
          <TextInput label={t('users.titleField')} description={t('users.titleHelp')} maxLength={200} value={form.title} error={at('title')} {...(user && { 'data-autofocus': true })} onChange={(e) => set({ title: e.currentTarget.value })} />
          <NativeSelect
            label={t('access.role')} description={form.role === '' ? undefined : t(`access.roleHelp.${form.role}`)} value={form.role} error={at('role')}
            data={[{ value: '', label: t('access.noRole') }, ...roles.map((value) => ({ value, label: t(`roles.${value}`) }))]}
            onChange={(e) => set({ role: e.currentTarget.value as Role | '' })}
          />
          <GrantFields rows={form.groups} error={at('groups')} onChange={(groups) => set({ groups })} />
          {!form.takePassword && (
            <PasswordField
              label={t(user ? 'users.newPassword' : 'users.password')} help={t(user?.hasPassword ? 'users.newPasswordHelp' : 'users.passwordHelp')} value={form.password} error={at('password')} suggests
              onChange={(password) => set({ password })}
            />
          )}
          {user?.hasPassword && <Switch label={t('users.takePassword')} description={t('users.takePasswordHelp')} checked={form.takePassword} onChange={(e) => set({ takePassword: e.currentTarget.checked })} />}
          {user && <Switch label={t('users.disabled')} description={t('users.disabledHelp')} checked={form.disabled} error={at('disabled')} onChange={(e) => set({ disabled: e.currentTarget.checked })} />}
          {user && <span className="small dim">{t('users.endsSessions')}</span>}
          {refused === 'stale' && <p role="alert">{t('users.stale')}</p>}
          {change.error && refused !== 'stale' && refused !== 'exists' && (refused !== 'invalid' || rest.length > 0) && <ProblemNotice error={change.error} faults={rest} />}
          <Group justify="flex-end">
            <Button variant="default" onClick={onClose}>{t('common.cancel')}</Button>
            <Button type="submit" loading={change.isPending}>{t(user ? 'editor.save' : 'users.create')}</Button>
          </Group>
        </Stack>
      </form>
    </Modal>
  );
}
