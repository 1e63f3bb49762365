import { Button } from '@mantine/core';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { useVersion } from '../api/version.ts';
import { Icon } from '../parts/icons.tsx';
import classes from '../parts/OfflineBanner.module.css';

/**
 * Reports that the server's version differs from this console's. The page is not reloaded automatically, since the user
 * may be typing.
 */
export function OutOfDateBanner() {
  const { t } = useTranslation();
  const now = useVersion().data?.version;
  const [loaded, setLoaded] = useState(now);
  if (loaded === undefined && now !== undefined) setLoaded(now);
  return (
    <div role="status" aria-live="polite">
      {loaded !== undefined && now !== undefined && loaded !== now && (
        <div className={classes.banner} data-out-of-date="">
          <Icon name="refresh" />
          <span>{t('offline.outOfDate')}</span>
          <Button size="compact-sm" variant="default" onClick={() => window.location.reload()}>{t('offline.reload')}</Button>
        </div>
      )}
    </div>
  );
}
