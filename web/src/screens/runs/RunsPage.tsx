import { Button, NativeSelect, TextInput } from '@mantine/core';
import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { useMemo } from 'react';
import { useTranslation } from 'react-i18next';
import { pageSize, useJobs } from '../../api/jobs.ts';
import { statuses, useRuns } from '../../api/runs.ts';
import type { RunStatus } from '../../api/types.ts';
import type { RunSearch } from '../../app/routes/runs.tsx';
import { isName } from '../../lib/names.ts';
import { DataTable } from '../../parts/DataTable.tsx';
import { EarlyEnd } from '../../parts/EarlyEnd.tsx';
import { EmptyPage } from '../../parts/EmptyPage.tsx';
import { Icon } from '../../parts/icons.tsx';
import { PageHead } from '../../parts/PageHead.tsx';
import { PartialNotice } from '../../parts/PartialNotice.tsx';
import { Pager } from '../../parts/Pager.tsx';
import { ProblemNotice } from '../../parts/ProblemNotice.tsx';
import { runColumns } from '../../parts/runColumns.tsx';
import { SearchField } from '../../parts/SearchField.tsx';
import { useCursorPages } from '../../parts/useCursorPages.ts';
import { Waiting } from '../../parts/Waiting.tsx';
import classes from './RunsPage.module.css';

/** The exit code that a text names; undefined for a text that names none. */
function exitCodeOf(text: string | undefined): number | undefined {
  return text !== undefined && /^\d{1,3}$/.test(text) && Number(text) <= 255 ? Number(text) : undefined;
}

export function RunsPage() {
  const { t, i18n } = useTranslation();
  const filter = useSearch({ from: '/runs' });
  const navigate = useNavigate();
  const pages = useCursorPages(JSON.stringify([filter.job, filter.status, filter.q, filter.exitCode]));
  // Half a name is no name: the server would refuse it, and it has no runs. Nor has an exit code that there is not.
  const exitCode = exitCodeOf(filter.exitCode);
  const sensible = (filter.job === undefined || isName(filter.job)) && (filter.exitCode === undefined || exitCode !== undefined);
  const runs = useRuns({ job: filter.job, status: filter.status, q: filter.q, exitCode }, pages.cursor, { enabled: sensible });
  const jobs = useJobs(filter.job ?? '', '');
  const columns = useMemo(() => runColumns(t, i18n.language, true), [t, i18n.language]);
  const show = ({ job, status, q, exitCode: code }: RunSearch) =>
    void navigate({ to: '/runs', search: { ...(job && { job }), ...(status && { status }), ...(q && { q }), ...(code && { exitCode: code }) }, replace: true });
  const rows = sensible ? runs.data?.items : [];
  const filtered = Object.values(filter).some((value) => value !== undefined);
  const partial = sensible && runs.data?.partial === true;
  const next = sensible ? runs.data?.nextCursor : undefined;
  const empty = rows?.length === 0 && pages.page === 1 && !next;
  const early = rows !== undefined && next !== undefined && rows.length < pageSize;

  return (
    <>
      <PageHead title={t('runs.title')} name={t('runs.title')}>
        <SearchField label={t('runs.search')} value={filter.job ?? ''} suggestions={jobs.data?.items.map((job) => job.name) ?? []} onChange={(job) => show({ ...filter, job })} />
        <SearchField second label={t('runs.text')} value={filter.q ?? ''} onChange={(q) => show({ ...filter, q })} />
        <NativeSelect
          aria-label={t('runs.filterStatus')} value={filter.status ?? ''}
          data={[{ value: '', label: t('runs.anyStatus') }, ...statuses.map((s) => ({ value: s, label: t(`status.${s}`) }))]}
          onChange={(event) => show({ ...filter, status: statuses.find((s): s is RunStatus => s === event.currentTarget.value) })}
        />
        <TextInput
          className={classes.code} aria-label={t('run.exitCode')} placeholder={t('run.exitCode')} inputMode="numeric" maxLength={3} value={filter.exitCode ?? ''}
          error={filter.exitCode !== undefined && exitCode === undefined} onChange={(event) => show({ ...filter, exitCode: event.currentTarget.value.trim() })}
        />
        <Button variant="default" leftSection={<Icon name="search" size={16} />} renderRoot={(props) => <Link to="/search" search={filter.job ? { job: filter.job } : {}} {...props} />}>
          {t('search.open')}
        </Button>
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
          {rows.length > 0 && <DataTable caption={t('runs.table')} columns={columns} rows={rows} rowId={(run) => run.id} busy={runs.isPlaceholderData} />}
          {early && <EarlyEnd found={rows.length} busy={runs.isPlaceholderData} onGoOn={() => pages.next(next)} />}
          {rows.length === 0 && !next && <p className="dim">{t('early.end')}</p>}
          <Pager pages={pages} nextCursor={next} />
        </>
      )}
    </>
  );
}
