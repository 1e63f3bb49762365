import { Button } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { visible } from '../../lib/visible.ts';
import { CopyLine } from '../../parts/CopyLine.tsx';
import { EmptyPage } from '../../parts/EmptyPage.tsx';

export function NoJobs({ mayEdit }: { mayEdit: boolean }) {
  const { t } = useTranslation();
  return (
    <EmptyPage icon="bell" title={t('jobs.emptyTitle')}>
      {mayEdit ? (
        <>
          <p>{t('jobs.emptyText')}</p>
          <CopyLine>crontab -l | cronctl import-crontab -</CopyLine>
          <CopyLine>cronctl import-crontab --system /etc/crontab</CopyLine>
          <p>{t('jobs.emptyOr')}</p>
        </>
      ) : (
        <p>{t('jobs.emptyViewer')}</p>
      )}
    </EmptyPage>
  );
}

export function NoMatch({ q, onClear }: { q: string; onClear: () => void }) {
  const { t } = useTranslation();
  return (
    <EmptyPage icon="search" title={t('jobs.nothingFound', { q: visible(q) })}>
      <p>{t('jobs.nothingFoundText')}</p>
      <Button variant="default" onClick={onClear}>{t('jobs.clearSearch')}</Button>
    </EmptyPage>
  );
}
