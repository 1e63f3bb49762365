import { Button } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { EmptyPage } from '../parts/EmptyPage.tsx';

/** Shown in place of a page that failed. A part that cannot be loaded any more usually means that the server was upgraded. */
export function BrokenPage({ error }: { error: unknown }) {
  const { t } = useTranslation();
  const outOfDate = error instanceof TypeError && /import|module|fetch/i.test(error.message);
  return (
    <EmptyPage icon="warn" title={outOfDate ? t('offline.outOfDate') : t('problem.unexpected')}>
      <Button onClick={() => window.location.reload()}>{t('problem.reloadPage')}</Button>
    </EmptyPage>
  );
}
