import { useText } from '../i18n/useText.ts';
import { Icon } from './icons.tsx';
import classes from './StatusBadge.module.css';

/** What is unusual about a run, or a job: that it has not started in time, runs far longer than it does else, or was left alone by all. */
export function Flag({ kind }: { kind: 'late' | 'slow' | 'overdue' }) {
  const { t } = useText();
  return (
    <span className={classes.badge} data-tone="warn" data-flag={kind} title={t(`flags.${kind}Text`)}>
      <Icon name={kind === 'slow' ? 'clock' : 'warn'} size={13} />
      {t(`flags.${kind}`)}
    </span>
  );
}
