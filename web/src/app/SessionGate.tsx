import { Loader, Modal } from '@mantine/core';
import { Fragment, use, useEffect, useRef, useState, type ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { useLive } from '../api/live.ts';
import { useLogin, useSessionState } from '../api/session.ts';
import { ServerAway } from '../api/problem.ts';
import { parseLoginCode, type SsoReason } from '../lib/fragment.ts';
import { useEscapeKept } from '../lib/useEscapeKept.ts';
import { reaches } from '../lib/rights.ts';
import { ProblemNotice } from '../parts/ProblemNotice.tsx';
import { LoginForm, LoginPage } from '../screens/login/LoginPage.tsx';
import { ConnectivityContext, useServerAway } from '../parts/connectivity.ts';
import classes from './SessionGate.module.css';
import { SessionContext } from '../parts/session.ts';

/**
 * Shows the console to a signed-in user, and the login page otherwise. A login code is exchanged first. When a
 * session ends while the console is open, the page stays as it is under a dialog, so that nothing typed is lost.
 */
export function SessionGate({ loginCode, ssoReason, children }: { loginCode: string | undefined; ssoReason: SsoReason | undefined; children: ReactNode }) {
  const { t } = useTranslation();
  const away = useServerAway();
  const exchange = useLogin();
  // A link that is opened in this tab changes only the fragment, which is read when the page loads.
  useEffect(() => {
    const onLink = () => parseLoginCode(window.location.hash) !== undefined && window.location.reload();
    window.addEventListener('hashchange', onLink);
    return () => window.removeEventListener('hashchange', onLink);
  }, []);
  const codeLeft = useRef(loginCode);
  useEffect(() => {
    const code = codeLeft.current;
    codeLeft.current = undefined;
    if (code !== undefined) exchange.mutate({ code });
  }, [exchange]);

  const exchanging = loginCode !== undefined && (exchange.isIdle || exchange.isPending);
  const session = useSessionState(!exchanging, away);
  const signedIn = session.data?.state === 'in';
  const ended = session.data?.state === 'ended';
  useEscapeKept(ended); // a dialog below this one would receive it, and close with its unsaved text
  useLive(session.data?.state === 'in' && reaches(session.data.me, 'viewer'), use(ConnectivityContext));
  const [refusal, setRefusal] = useState(ssoReason);
  useEffect(() => {
    if (signedIn) setRefusal(undefined); // it is no longer needed, also after signing out
  }, [signedIn]);

  if (session.data && session.data.state !== 'out') {
    return (
      <SessionContext value={session.data.me}>
        {/* The same user continues with the page as it was; another user gets a new one, without open dialogs and typed text. */}
        <Fragment key={session.data.me.name}>{children}</Fragment>
        <Modal opened={ended} onClose={() => undefined} withCloseButton={false} closeOnEscape={false} closeOnClickOutside={false} title={t('login.title')}>
          <LoginForm note={t('login.expired')} user={session.data.me.user} first={session.data.me.user === undefined ? 'token' : 'password'} />
        </Modal>
      </SessionContext>
    );
  }
  if (session.data) return <LoginPage linkFailed={exchange.isError && !(exchange.error instanceof ServerAway)} ssoReason={refusal} />;
  return (
    <main className={classes.centre} role="status">
      <h1 className="unseen">Carillon</h1>
      {session.error && !(session.error instanceof ServerAway) ? (
        <ProblemNotice error={session.error} onRetry={() => void session.refetch()} />
      ) : (
        <>
          <Loader aria-hidden="true" />
          <p>{away ? t('offline.first') : exchanging ? t('login.exchanging') : t('common.loading')}</p>
        </>
      )}
    </main>
  );
}
