import { Tabs } from '@mantine/core';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { notificationTabs, type NotificationTab } from '../../lib/searchParams.ts';
import { PageHead } from '../../parts/PageHead.tsx';
import { ChannelsPanel } from './ChannelsPanel.tsx';
import { DeliveriesPanel } from './DeliveriesPanel.tsx';
import { SilentPanel } from './SilentPanel.tsx';

/** Channels, what was delivered to them, and the jobs that notify none. */
export function NotificationsPage() {
  const { t } = useTranslation();
  const { tab = 'channels' } = useSearch({ from: '/notifications' });
  const navigate = useNavigate();
  const show = (next: string | null) => void navigate({ to: '/notifications', search: next === 'channels' ? {} : { tab: next as NotificationTab } });
  return (
    <>
      <PageHead title={t('notifications.title')} name={`${t(`notifications.${tab}`)} · ${t('notifications.title')}`} />
      <Tabs value={tab} onChange={show} keepMounted={false}>
        <Tabs.List mb="md">
          {notificationTabs.map((value) => <Tabs.Tab key={value} value={value}>{t(`notifications.${value}`)}</Tabs.Tab>)}
        </Tabs.List>
        <Tabs.Panel value="channels"><ChannelsPanel /></Tabs.Panel>
        <Tabs.Panel value="deliveries"><DeliveriesPanel /></Tabs.Panel>
        <Tabs.Panel value="silent"><SilentPanel /></Tabs.Panel>
      </Tabs>
    </>
  );
}
