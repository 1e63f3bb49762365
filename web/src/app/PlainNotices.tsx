import { CloseButton } from '@mantine/core';
import { notifications as store, useNotifications } from '@mantine/notifications';
import { useTranslation } from 'react-i18next';
import classes from './PlainNotices.module.css';

/** Notices without the component that shows them: they stay until they are closed. */
export function PlainNotices() {
  const { t } = useTranslation();
  const { notifications } = useNotifications();
  return (
    <div className={classes.list} role="status">
      {notifications.map(({ id, title, message }) => (
        <div key={id} className={classes.notice}>
          <p className="break">{title && <strong>{title}: </strong>}{message}</p>
          <CloseButton size="sm" aria-label={t('common.close')} onClick={() => id && store.hide(id)} />
        </div>
      ))}
    </div>
  );
}
