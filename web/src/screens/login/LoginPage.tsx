import { Alert, Button, PasswordInput, Stack, Text, Title } from '@mantine/core';
import { useEffect, useState, type FormEvent } from 'react';
import { useTranslation } from 'react-i18next';
import { useLogin } from '../../api/session.ts';
import { Problem } from '../../api/problem.ts';
import { LanguageMenu, ThemeMenu } from '../../app/menus.tsx';
import { OfflineBanner } from '../../app/OfflineBanner.tsx';
import { CopyLine } from '../../parts/CopyLine.tsx';
import { Icon } from '../../parts/icons.tsx';
import { ProblemNotice } from '../../parts/ProblemNotice.tsx';
import classes from './LoginPage.module.css';

/** Takes an access token and exchanges it for a session. */
export function LoginForm({ note }: { note?: string }) {
  const { t } = useTranslation();
  const login = useLogin();
  const [token, setToken] = useState('');
  const refused = login.error instanceof Problem && (login.error.status === 401 || login.error.status === 422);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (token.trim() !== '') login.mutate({ token: token.trim() });
  };
  return (
    <form onSubmit={submit}>
      <Stack>
        {note && <Text size="sm">{note}</Text>}
        <PasswordInput
          label={t('login.token')} placeholder={t('login.tokenPlaceholder')} value={token} onChange={(e) => setToken(e.currentTarget.value)}
          error={refused && t('login.wrongToken')} autoComplete="current-password" spellCheck={false} autoFocus required withAsterisk={false}
          visibilityToggleButtonProps={{ 'aria-hidden': true }}
        />
        {login.error && !refused && <ProblemNotice error={login.error} />}
        <Button type="submit" loading={login.isPending}>{t('login.submit')}</Button>
      </Stack>
    </form>
  );
}

export function LoginPage({ linkFailed }: { linkFailed: boolean }) {
  const { t } = useTranslation();
  useEffect(() => {
    document.title = `${t('login.title')} · Carillon`;
  }, [t]);
  return (
    <>
      <OfflineBanner />
      <main className={classes.page}>
        <div className={classes.tools}>
          <LanguageMenu />
          <ThemeMenu />
        </div>
        <div className={classes.card}>
          <span className={classes.logo}><Icon name="bell" size={28} /></span>
          <Title order={1} size="h3">{t('login.title')}</Title>
          {linkFailed && <Alert color="yellow" variant="light" icon={<Icon name="warn" />} role="alert">{t('login.linkFailed')}</Alert>}
          <LoginForm />
          <div className={classes.hints}>
            <p>{t('login.hintStandalone')}</p>
            <CopyLine>cat DATA-DIR/admin.token</CopyLine>
            <p>{t('login.hintCluster')}</p>
            <CopyLine>carillon-master bootstrap</CopyLine>
          </div>
        </div>
      </main>
    </>
  );
}
