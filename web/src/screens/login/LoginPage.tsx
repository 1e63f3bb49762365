import { Alert, Button, PasswordInput, Stack, Text, TextInput, Title } from '@mantine/core';
import { useEffect, useState, type FormEvent } from 'react';
import { useTranslation } from 'react-i18next';
import { useLogin, useLoginMethods } from '../../api/session.ts';
import { Problem } from '../../api/problem.ts';
import { OfflineBanner } from '../../parts/OfflineBanner.tsx';
import type { SsoReason } from '../../lib/fragment.ts';
import { visible } from '../../lib/visible.ts';
import { LanguageMenu, ThemeMenu } from '../../parts/AppearanceMenus.tsx';
import { CopyLine } from '../../parts/CopyLine.tsx';
import { Icon } from '../../parts/icons.tsx';
import { ProblemNotice } from '../../parts/ProblemNotice.tsx';
import classes from './LoginPage.module.css';

type Way = 'password' | 'token';

/** Exchanges a user's password or an access token for a session. */
export function LoginForm({ note, user: known = '', first = 'password' }: { note?: string; user?: string | undefined; first?: Way }) {
  const { t } = useTranslation();
  const login = useLogin();
  const [way, setWay] = useState<Way>(first);
  const [user, setUser] = useState(known);
  const [secret, setSecret] = useState('');
  const byPassword = way === 'password';
  const refused = login.error instanceof Problem && (login.error.status === 401 || login.error.status === 422);
  const tooMany = login.error instanceof Problem && login.error.status === 429;
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (byPassword) login.mutate({ user: user.trim(), password: secret });
    else login.mutate({ token: secret.trim() });
  };
  const change = () => {
    setWay(byPassword ? 'token' : 'password');
    setSecret('');
    login.reset();
  };
  return (
    <form onSubmit={submit}>
      <Stack>
        {note && <Text size="sm">{note}</Text>}
        {byPassword && (
          <TextInput
            label={t('login.user')} value={user} onChange={(e) => setUser(e.currentTarget.value)} autoComplete="username" autoCapitalize="none" spellCheck={false}
            autoFocus={user === ''} required withAsterisk={false} error={refused}
          />
        )}
        <PasswordInput
          key={way} label={byPassword ? t('login.password') : t('login.token')} placeholder={byPassword ? undefined : t('login.tokenPlaceholder')}
          value={secret} onChange={(e) => setSecret(e.currentTarget.value)} error={refused && (byPassword ? t('login.wrongPassword') : t('login.wrongToken'))}
          autoComplete={byPassword ? 'current-password' : 'off'} spellCheck={false} autoFocus={!byPassword || user !== ''} data-autofocus={known !== '' || undefined} required withAsterisk={false}
          visibilityToggleButtonProps={{ 'aria-hidden': true }}
        />
        {tooMany && <Alert color="yellow" variant="light" icon={<Icon name="warn" />} role="alert">{t('login.tooMany')}</Alert>}
        {login.error && !refused && !tooMany && <ProblemNotice error={login.error} />}
        <Button type="submit" loading={login.isPending}>{t('login.submit')}</Button>
        <SingleSignOn />
        <Button variant="subtle" size="compact-sm" onClick={change}>{byPassword ? t('login.byToken') : t('login.byPassword')}</Button>
      </Stack>
    </form>
  );
}

/** Redirects to the trusted issuer, and back to the requested page. */
function SingleSignOn() {
  const issuer = useLoginMethods().data?.oidc;
  if (!issuer) return null;
  const to = window.location.pathname + window.location.search;
  return <Button variant="default" className={classes.sso} component="a" href={`${issuer.start}?to=${encodeURIComponent(to)}`}>{visible(issuer.title)}</Button>;
}

export function LoginPage({ linkFailed, ssoReason }: { linkFailed: boolean; ssoReason?: SsoReason | undefined }) {
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
          {ssoReason && <Alert color="yellow" variant="light" icon={<Icon name="warn" />} role="alert">{t(`login.sso.${ssoReason}`)}</Alert>}
          <LoginForm first={linkFailed ? 'token' : 'password'} />
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
