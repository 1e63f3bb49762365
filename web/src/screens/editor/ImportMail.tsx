import { Button, Group, NativeSelect } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import type { CrontabChannel } from '../../api/crontab.ts';
import type { Channel } from '../../api/types.ts';
import { useVersion } from '../../api/version.ts';
import { listed } from '../../lib/lists.ts';
import { visible } from '../../lib/visible.ts';
import { ChannelDialog } from '../../parts/ChannelDialog.tsx';
import { useCan } from '../../parts/session.ts';
import fieldClasses from './fields.module.css';
import { asMailTo } from './importPlan.ts';

interface Props {
  /** The addresses of MAILTO. */
  addresses: readonly string[];
  channels: readonly Channel[] | undefined;
  value: string;
  onChange: (channel: string) => void;
  /** The dialog of a new channel is open. */
  creating: boolean;
  onCreating: (creating: boolean) => void;
}

/** Which channel the new jobs notify: as MAILTO requests of their output, or another one when they fail. */
export function ImportMail({ addresses, channels, value, onChange, creating, onCreating }: Props) {
  const { t, i18n } = useTranslation();
  // Mail channels first.
  const offered = [...(channels ?? [])].sort((a, b) => Number(b.kind === 'mail') - Number(a.kind === 'mail'));
  if (channels === undefined) return null;
  if (offered.length === 0 && addresses.length === 0) return <NoChannel creating={creating} onCreating={onCreating} onCreated={onChange} />;
  const to = listed(addresses, i18n.language);
  return (
    <div data-mail="">
      <NativeSelect
        label={t('crontab.notify')} description={value === asMailTo ? t('crontab.mailTo') : t('crontab.notifyHelp')} value={value}
        data={[
          ...(addresses.length > 0 ? [{ value: asMailTo, label: t('crontab.asMailTo', { to: visible(to) }) }] : []),
          { value: '', label: t('crontab.notifyNone') },
          ...offered.map(({ name, kind }) => ({ value: name, label: `${visible(name)} (${t(`channels.kinds.${kind}`)})` })),
        ]}
        onChange={(e) => onChange(e.currentTarget.value)}
      />
    </div>
  );
}

/** There is no channel that the new jobs could notify: an admin can create one here. */
function NoChannel({ creating, onCreating, onCreated }: Pick<Props, 'creating' | 'onCreating'> & { onCreated: (channel: string) => void }) {
  const { t } = useTranslation();
  const admin = useCan('admin');
  return (
    <div data-mail="">
      <Group gap="sm">
        <span>{t(admin ? 'crontab.noChannel' : 'crontab.noChannelAsk')}</span>
        {admin && <Button size="compact-sm" variant="default" onClick={() => onCreating(true)}>{t('channels.newEllipsis')}</Button>}
      </Group>
      {creating && <ChannelDialog onSaved={({ name }) => onCreated(name)} onClose={() => onCreating(false)} />}
    </div>
  );
}

/** The mail channels that the import creates, and what is missing for mail. */
export function ImportChannels({ channels, mails }: { channels: readonly CrontabChannel[]; mails: boolean }) {
  const { t, i18n } = useTranslation();
  const admin = useCan('admin');
  const sends = useVersion().data?.mail;
  return (
    <>
      {channels.map(({ name, to }) => (
        <div key={name} data-new-channel={name}>
          <p className={fieldClasses.error} data-tone="hint">{t(admin ? 'crontab.newChannel' : 'crontab.newChannelAsk', { name: visible(name), to: visible(listed(to, i18n.language)) })}</p>
        </div>
      ))}
      {mails && sends === false && <p className={fieldClasses.error} data-tone="hint">{t('channels.noMail')}</p>}
    </>
  );
}
