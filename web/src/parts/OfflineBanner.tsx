import { useTranslation } from 'react-i18next';
import { Icon } from './icons.tsx';
import { useServerAway } from './connectivity.ts';
import classes from './OfflineBanner.module.css';

export function OfflineBanner() {
  const { t } = useTranslation();
  const away = useServerAway();
  return (
    <div role="status" aria-live="polite">
      {away && (
        <div className={classes.banner} data-offline="">
          <Icon name="warn" />
          <span><strong>{t('offline.title')}</strong> {t('offline.text')}</span>
        </div>
      )}
    </div>
  );
}
