import { useTranslation } from 'react-i18next';
import type { FireStatus } from '../api/types.ts';
import { Icon } from './icons.tsx';
import classes from './StatusBadge.module.css';
import { statusLooks } from './statusLooks.ts';

/** A status as a word, a sign and a colour, so that colour alone is never needed. */
export function StatusBadge({ status }: { status: FireStatus }) {
  const { t } = useTranslation();
  const look = statusLooks[status];
  return (
    <span className={classes.badge} data-tone={look.tone} data-status={status}>
      <Icon name={look.icon} size={13} />
      {t(`status.${status}`)}
    </span>
  );
}
