import { Button } from '@mantine/core';
import { useEffect, useRef } from 'react';
import { useTranslation } from 'react-i18next';
import { EmptyPage } from '../parts/EmptyPage.tsx';
import { useServerAway } from '../parts/connectivity.ts';

/**
 * Shown instead of a page that failed. A chunk that cannot be loaded usually means that the server was upgraded; if the
 * server is unreachable, it is loaded once the server is back.
 */
export function BrokenPage({ error }: { error: unknown }) {
  const { t } = useTranslation();
  const away = useServerAway();
  const wasAway = useRef(false);
  const unloaded = error instanceof Error && /import|module|fetch|preload/i.test(error.message);
  useEffect(() => {
    if (away) wasAway.current = true;
    // Browsers remember that a module failed: only a reload requests it again.
    else if (wasAway.current && unloaded) window.location.reload();
  }, [away, unloaded]);
  if (away && unloaded) return <EmptyPage whole icon="warn" title={t('offline.notLoaded')} />;
  return (
    <EmptyPage whole icon="warn" title={unloaded ? t('offline.outOfDate') : t('problem.unexpected')}>
      <Button onClick={() => window.location.reload()}>{t('problem.reloadPage')}</Button>
    </EmptyPage>
  );
}
