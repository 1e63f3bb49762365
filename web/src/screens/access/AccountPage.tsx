import { useNavigate, useSearch } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { useSession } from '../../parts/session.ts';
import { visible } from '../../lib/visible.ts';
import { Facts } from '../../parts/Facts.tsx';
import { PageHead } from '../../parts/PageHead.tsx';
import { Panel } from '../../parts/Panel.tsx';
import { TimeText } from '../../parts/TimeText.tsx';
import classes from './access.module.css';
import { Grants } from './Grants.tsx';
import { PasswordForm } from './PasswordForm.tsx';
import { SessionsPanel } from './SessionsPanel.tsx';
import { TokensPanel } from './TokensPanel.tsx';

/** The signed-in user's roles, password, tokens and sessions. */
export function AccountPage() {
  const { t } = useTranslation();
  const me = useSession();
  const { token } = useSearch({ from: '/account' });
  const navigate = useNavigate();
  return (
    <>
      <PageHead title={t('account.title')} name={t('account.title')} />
      <div className={classes.account}>
        <Panel title={visible(me.name)}>
          <Facts
            entries={[
              [t('account.role'), <Grants key="role" role={me.role} groups={me.groups} />],
              [t('account.ends'), me.expiresAt && <TimeText key="ends" at={me.expiresAt} />],
            ]}
          />
          {me.user === undefined && <p>{t('account.token')}</p>}
        </Panel>
        {me.user !== undefined && <Panel title={t('account.passwordTitle')}><PasswordForm /></Panel>}
      </div>
      {me.user !== undefined && <Panel title={t('account.myTokens')}><TokensPanel user={me.user} asked={token === 'new'} onAnswered={() => void navigate({ to: '/account', replace: true })} /></Panel>}
      <Panel title={t('account.mySessions')}><SessionsPanel /></Panel>
    </>
  );
}
