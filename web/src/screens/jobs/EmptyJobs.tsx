import { Button, Group } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import type { JobFilter } from '../../lib/jobFilter.ts';
import { visible } from '../../lib/visible.ts';
import { CopyLine } from '../../parts/CopyLine.tsx';
import { EmptyPage } from '../../parts/EmptyPage.tsx';
import { Icon } from '../../parts/icons.tsx';

export function NoJobs({ mayEdit, onImport }: { mayEdit: boolean; onImport: () => void }) {
  const { t } = useTranslation();
  return (
    <EmptyPage icon="bell" title={t('jobs.emptyTitle')}>
      {mayEdit ? (
        <>
          <p>{t('jobs.emptyText')}</p>
          <Group gap="sm" justify="center">
            <Button leftSection={<Icon name="calendar" size={16} />} onClick={onImport}>{t('jobs.import')}</Button>
            <Button variant="default" renderRoot={(props) => <Link to="/new/job" {...props} />} leftSection={<Icon name="plus" size={16} />}>{t('jobs.emptyNew')}</Button>
          </Group>
          <p>{t('jobs.emptyOr')}</p>
          <CopyLine>crontab -l | cronctl import-crontab -</CopyLine>
          <CopyLine>cronctl import-crontab --system /etc/crontab</CopyLine>
        </>
      ) : (
        <p>{t('jobs.emptyViewer')}</p>
      )}
    </EmptyPage>
  );
}

export function NoMatch({ filter, onClear }: { filter: JobFilter; onClear: () => void }) {
  const { t } = useTranslation();
  return (
    <EmptyPage icon="search" title={filter.q ? t('jobs.nothingFound', { q: visible(filter.q) }) : t('jobs.nothingThere')}>
      <p>{t(filter.q ? 'jobs.nothingFoundText' : 'jobs.nothingThereText')}</p>
      <Button variant="default" onClick={onClear}>{t('jobs.clearSearch')}</Button>
    </EmptyPage>
  );
}
