import { ActionIcon, Menu } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import type { TFunction } from 'i18next';
import type { useTestChannel } from '../../api/channels.ts';
import type { Channel, Delivery } from '../../api/types.ts';
import { visible } from '../../lib/visible.ts';
import { isKnownKind } from '../../parts/channelForm.ts';
import { column, type Columns } from '../../parts/DataTable.tsx';
import { DeliveryStatus } from '../../parts/DeliveryStatus.tsx';
import { Icon } from '../../parts/icons.tsx';
import { PlainText } from '../../parts/PlainText.tsx';
import { TestButton } from '../../parts/TestChannel.tsx';
import { RelativeTime } from '../../parts/TimeText.tsx';
import { deliveryTrouble } from '../../parts/deliveryTrouble.ts';
import { ToneBadge } from '../../parts/ToneBadge.tsx';
import { UsedByButton } from '../../parts/UsedByJobs.tsx';
import classes from './notifications.module.css';

interface Acts {
  admin: boolean;
  /** The server sends mail; undefined while unknown. */
  mail: boolean | undefined;
  test: ReturnType<typeof useTestChannel>;
  /** The channel whose jobs are shown, and a function to toggle it. */
  open: string | undefined;
  onToggle: (name: string) => void;
  onEdit: (channel: Channel) => void;
  onDelete: (channel: Channel) => void;
}

const addressesShown = 3;

export function channelColumns(t: TFunction, acts: Acts): Columns<Channel> {
  return [
    column<Channel>('name', t('channels.name'), (channel) => (
      <>
        <span className="spaced">
          <strong className="break">{visible(channel.name)}</strong>
          {channel.disabled && <ToneBadge tone="warn" icon="pause" title={channel.why && visible(channel.why)}>{t('channels.off')}</ToneBadge>}
          {channel.kind === 'mail' && acts.mail === false && <ToneBadge tone="bad" icon="warn">{t('channels.cannotSend')}</ToneBadge>}
        </span>
        {channel.kind === 'mail' && acts.mail === false && <div className="small dim" data-no-mail="">{t('channels.noMail')}</div>}
        {channel.why && <div className="small dim"><PlainText>{channel.why}</PlainText></div>}
      </>
    )),
    column<Channel>('destination', t('channels.destination'), (channel) => <Destination t={t} channel={channel} />),
    column<Channel>('last', t('channels.last'), (channel) => <Last t={t} channel={channel} />),
    column<Channel>('jobs', t('channels.jobs'), ({ name, jobs }) => <UsedByButton count={jobs} open={acts.open === name} onToggle={() => acts.onToggle(name)} />),
    column<Channel>('actions', t('common.actions'), (channel) => <ActionsCell t={t} channel={channel} acts={acts} />),
  ];
}

function Destination({ t, channel }: { t: TFunction; channel: Channel }) {
  const { kind, origin, to = [] } = channel;
  const kindName = isKnownKind(kind) ? t(`channels.kinds.${kind}`) : visible(kind);
  if (!origin && to.length === 0) return <span className="dim">{kindName}</span>;
  const left = to.length - addressesShown;
  return (
    <span className="spaced">
      <span className="dim">{kindName}</span>
      {origin && <code className="break">{visible(origin)}/…</code>}
      {to.slice(0, addressesShown).map((address) => <span key={address} className="break">{visible(address)}</span>)}
      {left > 0 && <span className="dim">+{left}</span>}
    </span>
  );
}

function Last({ t, channel: { last, pending } }: { t: TFunction; channel: Channel }) {
  if (!last) return <span className="dim">{pending ? t('channels.pending', { count: pending }) : t('channels.never')}</span>;
  return (
    <div className={classes.last}>
      <span className="spaced">
        <DeliveryStatus delivery={last} />
        <RelativeTime at={last.doneAt ?? last.createdAt} />
        {pending !== undefined && pending > 0 && <span className="dim">{t('channels.pending', { count: pending })}</span>}
      </span>
      <DeliveryTrouble t={t} delivery={last} />
    </div>
  );
}

/** Why a delivery failed or waits; the error itself is for admins. */
export function DeliveryTrouble({ t, delivery }: { t: TFunction; delivery: Delivery }) {
  const { said, detail } = deliveryTrouble(t, delivery);
  if (said === '') return null;
  return (
    <div className="small dim">
      {said} {detail && <code className="break">{visible(detail)}</code>}
    </div>
  );
}

function ActionsCell({ t, channel, acts }: { t: TFunction; channel: Channel; acts: Acts }) {
  return (
    <div className={classes.actions}>
      {acts.admin && <TestButton compact name={channel.name} test={acts.test} />}
      <Menu position="bottom-end">
        <Menu.Target>
          <ActionIcon variant="subtle" color="gray" size="lg" aria-label={t('channels.actionsFor', { name: visible(channel.name) })}><Icon name="dots" /></ActionIcon>
        </Menu.Target>
        <Menu.Dropdown>
          {acts.admin && <Menu.Item leftSection={<Icon name="pencil" size={16} />} onClick={() => acts.onEdit(channel)}>{t('channels.edit')}</Menu.Item>}
          <Menu.Item leftSection={<Icon name="history" size={16} />} renderRoot={(props) => <Link to="/notifications" search={{ tab: 'deliveries', channel: channel.name }} {...props} />}>{t('channels.deliveriesOf')}</Menu.Item>
          {acts.admin && <Menu.Item color="red" leftSection={<Icon name="trash" size={16} />} onClick={() => acts.onDelete(channel)}>{t('channels.delete')}</Menu.Item>}
        </Menu.Dropdown>
      </Menu>
    </div>
  );
}
