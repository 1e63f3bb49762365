import { useTranslation } from 'react-i18next';
import type { FireStatus } from '../api/types.ts';
import { Icon, type IconName } from './icons.tsx';
import classes from './StatusBadge.module.css';

const looks: Record<FireStatus, { icon: IconName; tone: 'ok' | 'bad' | 'warn' | 'live' | 'idle' }> = {
  planned: { icon: 'calendar', tone: 'idle' },
  waiting: { icon: 'clock', tone: 'idle' },
  running: { icon: 'play', tone: 'live' },
  succeeded: { icon: 'check', tone: 'ok' },
  failed: { icon: 'close', tone: 'bad' },
  timed_out: { icon: 'clock', tone: 'bad' },
  killed: { icon: 'stop', tone: 'warn' },
  lost: { icon: 'question', tone: 'bad' },
  skipped: { icon: 'skip', tone: 'idle' },
  refused: { icon: 'warn', tone: 'warn' },
  missed: { icon: 'warn', tone: 'warn' },
};

/** A status as a word, a sign and a colour, so that none of them carries it alone. */
export function StatusBadge({ status }: { status: FireStatus }) {
  const { t } = useTranslation();
  const look = looks[status];
  return (
    <span className={classes.badge} data-tone={look.tone} data-status={status}>
      <Icon name={look.icon} size={13} />
      {t(`status.${status}`)}
    </span>
  );
}
