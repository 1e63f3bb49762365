import { useText } from '../i18n/useText.ts';
import { Icon } from './icons.tsx';
import classes from './StatusBadge.module.css';

/** A flag for an unusual run or job: overdue, much longer than usual, or not claimed by any worker. */
export function Flag({ kind }: { kind: 'late' | 'slow' | 'overdue' }) {
  const { t } = useText();
  return (
    <span className={classes.badge} data-tone="warn" data-flag={kind} title={t(`flags.${kind}Text`)}>
      <Icon name={kind === 'slow' ? 'clock' : 'warn'} size={13} />
      {t(`flags.${kind}`)}
    </span>
  );
}
