import { NativeSelect } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import type { Channel } from '../../api/types.ts';
import { listed } from '../../lib/lists.ts';
import { visible } from '../../lib/visible.ts';
import { CopyLine } from '../../parts/CopyLine.tsx';
import fieldClasses from './fields.module.css';

interface Props {
  /** The addresses of MAILTO. */
  addresses: readonly string[];
  channels: readonly Channel[] | undefined;
  value: string;
  onChange: (channel: string) => void;
}

// An address that needs no quotes in a shell.
const plain = /^[\w.+-]+@[\w.-]+$/;

/** The channel that replaces MAILTO: Carillon keeps the output of runs, and notifies of failures only. */
export function ImportMail({ addresses, channels, value, onChange }: Props) {
  const { t, i18n } = useTranslation();
  // Mail channels first.
  const offered = [...(channels ?? [])].sort((a, b) => Number(b.kind === 'mail') - Number(a.kind === 'mail'));
  const mail = offered.some((channel) => channel.kind === 'mail');
  if (offered.length === 0 && addresses.length === 0) return null;
  const to = listed(addresses, i18n.language);
  return (
    <div data-mail="">
      <NativeSelect
        label={t('crontab.notify')} description={addresses.length > 0 ? t('crontab.mailTo', { to: visible(to) }) : t('crontab.notifyHelp')} value={value}
        data={[{ value: '', label: t('crontab.notifyNone') }, ...offered.map(({ name, kind }) => ({ value: name, label: `${visible(name)} (${t(`crontab.kinds.${kind}`)})` }))]}
        onChange={(e) => onChange(e.currentTarget.value)}
      />
      {channels && addresses.length > 0 && !mail && (
        <>
          <p className={fieldClasses.error} data-tone="hint">{t('crontab.noMail')}</p>
          <CopyLine>{['cronctl create channel ops --kind mail', ...addresses.map((address) => `--to ${plain.test(address) ? address : 'ADDRESS'}`)].join(' ')}</CopyLine>
        </>
      )}
    </div>
  );
}
