import { Button } from '@mantine/core';
import { useMemo, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { useChannelList, useTestChannel } from '../../api/channels.ts';
import type { Channel } from '../../api/types.ts';
import { useVersion } from '../../api/version.ts';
import { ChannelDialog } from '../../parts/ChannelDialog.tsx';
import { DataTable } from '../../parts/DataTable.tsx';
import { EmptyPage } from '../../parts/EmptyPage.tsx';
import { Icon } from '../../parts/icons.tsx';
import { ProblemNotice } from '../../parts/ProblemNotice.tsx';
import { useSession } from '../../parts/session.ts';
import { TestResult } from '../../parts/TestChannel.tsx';
import { Waiting } from '../../parts/Waiting.tsx';
import { channelColumns } from './channelColumns.tsx';
import { ChannelUse } from './ChannelUse.tsx';
import { DeleteChannel } from './DeleteChannel.tsx';
import classes from './notifications.module.css';

/** The channels with their latest deliveries. */
export function ChannelsPanel() {
  const { t } = useTranslation();
  const admin = useSession().role === 'admin';
  const channels = useChannelList();
  const mail = useVersion().data?.mail;
  const test = useTestChannel();
  const [editing, setEditing] = useState<Channel | 'new' | undefined>();
  const [deleting, setDeleting] = useState<Channel | undefined>();
  // The channel whose jobs are shown.
  const [open, setOpen] = useState<string | undefined>();
  const columns = useMemo(
    () => channelColumns(t, { admin, mail, test, open, onToggle: (name) => setOpen((before) => (before === name ? undefined : name)), onEdit: setEditing, onDelete: setDeleting }),
    [t, admin, mail, test, open],
  );
  const rows = channels.data?.items;
  const create = admin && <Button leftSection={<Icon name="plus" size={16} />} onClick={() => setEditing('new')}>{t('channels.new')}</Button>;
  const below = ({ name }: Channel) => {
    const tested = test.variables === name && (test.data || test.error);
    return tested || open === name ? <div className={classes.below}>{tested && <TestResult test={test} />}{open === name && <ChannelUse name={name} />}</div> : undefined;
  };
  return (
    <>
      {channels.error && !rows && <ProblemNotice error={channels.error} onRetry={() => void channels.refetch()} />}
      {!rows && !channels.error && <Waiting rows={4} />}
      {rows?.length === 0 && (
        <EmptyPage icon="bell" title={t('channels.emptyTitle')}>
          <p>{t('channels.emptyText')}</p>
          {create || <p className="dim">{t('channels.emptyAsk')}</p>}
        </EmptyPage>
      )}
      {rows && rows.length > 0 && (
        <>
          <div className={classes.toolbar}>
            {!admin && <span className="small dim">{t('notifications.adminsOnly')}</span>}
            <span className={classes.end}>{create}</span>
          </div>
          <DataTable cards="below" caption={t('channels.table')} columns={columns} rows={rows} rowId={({ name }) => name} below={below} />
        </>
      )}
      {editing && <ChannelDialog channel={editing === 'new' ? undefined : editing} onClose={() => setEditing(undefined)} />}
      {deleting && <DeleteChannel channel={deleting} onClose={() => setDeleting(undefined)} />}
    </>
  );
}
