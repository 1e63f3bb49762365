import { Tabs } from '@mantine/core';
import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { accessTabs, type AccessTab } from '../../lib/searchParams.ts';
import { useSession } from '../../parts/session.ts';
import { EmptyPage } from '../../parts/EmptyPage.tsx';
import { PageHead } from '../../parts/PageHead.tsx';
import { AuditPanel } from './AuditPanel.tsx';
import { SessionsPanel } from './SessionsPanel.tsx';
import { TokensPanel } from './TokensPanel.tsx';
import { UsersPanel } from './UsersPanel.tsx';

/** Users, tokens, sessions and the audit. For global admins. */
export function AccessPage() {
  const { t } = useTranslation();
  const me = useSession();
  const { tab = 'users', user } = useSearch({ from: '/access' });
  const navigate = useNavigate();
  const show = (next: string | null) => void navigate({ to: '/access', search: next === 'users' ? {} : { tab: next as AccessTab } });
  if (me.role !== 'admin') {
    return (
      <>
        <PageHead title={t('access.title')} name={t('access.title')} />
        <EmptyPage icon="user" title={t('access.deniedTitle')}>
          <p>{t('access.denied')}</p>
          <Link to="/account">{t('access.toAccount')}</Link>
        </EmptyPage>
      </>
    );
  }
  return (
    <>
      <PageHead title={t('access.title')} name={`${t(`access.${tab}`)} · ${t('access.title')}`} />
      <Tabs value={tab} onChange={show} keepMounted={false}>
        <Tabs.List mb="md">
          {accessTabs.map((value) => <Tabs.Tab key={value} value={value}>{t(`access.${value}`)}</Tabs.Tab>)}
        </Tabs.List>
        <Tabs.Panel value="users"><UsersPanel /></Tabs.Panel>
        <Tabs.Panel value="tokens"><TokensPanel user={user} onAll={() => show('tokens')} allUsers /></Tabs.Panel>
        <Tabs.Panel value="sessions"><SessionsPanel allUsers /></Tabs.Panel>
        <Tabs.Panel value="audit"><AuditPanel /></Tabs.Panel>
      </Tabs>
    </>
  );
}
