import { Button, Stack } from '@mantine/core';
import { useState, type FormEvent } from 'react';
import { useTranslation } from 'react-i18next';
import { Problem } from '../../api/problem.ts';
import { useChangePassword } from '../../api/users.ts';
import { useSession } from '../../parts/session.ts';
import { fieldFaults } from '../../parts/fieldFaults.ts';
import { ProblemNotice } from '../../parts/ProblemNotice.tsx';
import { showNotice } from '../../parts/showNotice.ts';
import { PasswordField } from './PasswordField.tsx';

const nothing = { current: '', fresh: '', again: '' };

export function PasswordForm() {
  const { t, i18n } = useTranslation();
  const me = useSession();
  const change = useChangePassword();
  const [form, setForm] = useState(nothing);
  const [differs, setDiffers] = useState(false);
  const { at, rest } = fieldFaults(t, i18n.language, change.error, ['current', 'new', 'password']);
  const set = (part: Partial<typeof form>) => {
    setForm({ ...form, ...part });
    setDiffers(false);
    if (change.isError) change.reset();
  };
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (form.fresh !== form.again) return setDiffers(true);
    change.mutate(
      { current: form.current, new: form.fresh },
      {
        onSuccess: () => {
          setForm(nothing);
          showNotice(t, t('account.changed'));
        },
      },
    );
  };
  return (
    <form onSubmit={submit} noValidate>
      <Stack gap="md">
        {/* For the browser's password manager, which needs the user's name. */}
        <input type="text" name="username" autoComplete="username" value={me.user ?? ''} readOnly hidden />
        <PasswordField label={t('account.current')} autoComplete="current-password" value={form.current} error={at('current')} onChange={(current) => set({ current })} />
        <PasswordField label={t('account.new')} help={t('account.passwordHelp')} value={form.fresh} error={at('new') ?? at('password')} onChange={(fresh) => set({ fresh })} />
        <PasswordField label={t('account.repeat')} value={form.again} error={differs ? t('account.differs') : undefined} onChange={(again) => set({ again })} />
        {change.error && (!(change.error instanceof Problem && change.error.code === 'invalid') || rest.length > 0) && <ProblemNotice error={change.error} faults={rest} />}
        <div><Button type="submit" loading={change.isPending} disabled={form.current === '' || form.fresh === ''}>{t('account.change')}</Button></div>
      </Stack>
    </form>
  );
}
