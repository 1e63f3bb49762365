import { Button, NativeSelect } from '@mantine/core';
import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { useMemo } from 'react';
import { useTranslation } from 'react-i18next';
import { useJobs } from '../../api/jobs.ts';
import { statuses, useRuns } from '../../api/runs.ts';
import type { RunStatus } from '../../api/types.ts';
import { isName } from '../../lib/names.ts';
import { DataTable } from '../../parts/DataTable.tsx';
import { EmptyPage } from '../../parts/EmptyPage.tsx';
import { PageHead } from '../../parts/PageHead.tsx';
import { PartialNotice } from '../../parts/PartialNotice.tsx';
import { Pager } from '../../parts/Pager.tsx';
import { ProblemNotice } from '../../parts/ProblemNotice.tsx';
import { runColumns } from '../../parts/runColumns.tsx';
import { SearchField } from '../../parts/SearchField.tsx';
import { useCursorPages } from '../../parts/useCursorPages.ts';
import { Waiting } from '../../parts/Waiting.tsx';

export function RunsPage() {
  const { t, i18n } = useTranslation();
  const filter = useSearch({ from: '/runs' });
  const navigate = useNavigate();
  const pages = useCursorPages(`${filter.job ?? ''} ${filter.status ?? ''}`);
  // Half a name is no name: the server would refuse it, and it has no runs.
  const named = filter.job === undefined || isName(filter.job);
  const runs = useRuns(filter, pages.cursor, { enabled: named });
  const jobs = useJobs(filter.job ?? '', '');
  const columns = useMemo(() => runColumns(t, i18n.language, true), [t, i18n.language]);
  const show = (next: typeof filter) =>
    void navigate({ to: '/runs', search: { ...(next.job && { job: next.job }), ...(next.status && { status: next.status }) }, replace: true });
  const rows = named ? runs.data?.items : [];
  const filtered = filter.job !== undefined || filter.status !== undefined;
  const partial = named && runs.data?.partial === true;
  const empty = rows?.length === 0 && pages.page === 1;

  return (
    <>
      <PageHead title={t('runs.title')} name={t('runs.title')}>
        <SearchField label={t('runs.search')} value={filter.job ?? ''} suggestions={jobs.data?.items.map((job) => job.name) ?? []} onChange={(job) => show({ ...filter, job })} />
        <NativeSelect
          aria-label={t('runs.filterStatus')} value={filter.status ?? ''}
          data={[{ value: '', label: t('runs.anyStatus') }, ...statuses.map((s) => ({ value: s, label: t(`status.${s}`) }))]}
          onChange={(event) => show({ ...filter, status: statuses.find((s): s is RunStatus => s === event.currentTarget.value) })}
        />
      </PageHead>
      {runs.error && !rows && <ProblemNotice error={runs.error} onRetry={() => void runs.refetch()} />}
      {!rows && !runs.error && <Waiting rows={8} />}
      {partial && <PartialNotice />}
      {empty && !partial &&
        (filtered ? (
          <EmptyPage icon="search" title={t('runs.nothingFound')}>
            <Button variant="default" onClick={() => show({})}>{t('runs.clearFilter')}</Button>
          </EmptyPage>
        ) : (
          <EmptyPage icon="clock" title={t('runs.emptyTitle')}>
            <p>{t('runs.emptyText')}</p>
            <Link to="/jobs">{t('runs.goToJobs')}</Link>
          </EmptyPage>
        ))}
      {rows && !empty && (
        <>
          <DataTable caption={t('runs.table')} columns={columns} rows={rows} rowId={(run) => run.id} busy={runs.isPlaceholderData} />
          <Pager pages={pages} nextCursor={runs.data?.nextCursor} />
        </>
      )}
    </>
  );
}
