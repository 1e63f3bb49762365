import { Button, NativeSelect, TextInput } from '@mantine/core';
import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { useMemo } from 'react';
import { useTranslation } from 'react-i18next';
import { fireStatuses } from '../../api/fires.ts';
import { useJobs } from '../../api/jobs.ts';
import { useLedger } from '../../api/ledger.ts';
import { Problem } from '../../api/problem.ts';
import { fromLocalInput, toLocalInput } from '../../lib/localTime.ts';
import { isName } from '../../lib/names.ts';
import { DataTable } from '../../parts/DataTable.tsx';
import { EmptyPage } from '../../parts/EmptyPage.tsx';
import { fireColumns } from '../../parts/fireColumns.tsx';
import { PageHead } from '../../parts/PageHead.tsx';
import { PartialNotice } from '../../parts/PartialNotice.tsx';
import { Pager } from '../../parts/Pager.tsx';
import { ProblemNotice } from '../../parts/ProblemNotice.tsx';
import { SearchField } from '../../parts/SearchField.tsx';
import { useCursorPages } from '../../parts/useCursorPages.ts';
import { Waiting } from '../../parts/Waiting.tsx';
import classes from './LedgerPage.module.css';
import { cleaned, rangeOf, ranges, statusesOf, stretchOf, type LedgerSearch, type Range } from './ranges.ts';

/** Every fire with what became of it, and those that are to come. */
export function LedgerPage() {
  const { t, i18n } = useTranslation();
  const search = useSearch({ from: '/ledger' });
  const navigate = useNavigate();
  const range = rangeOf(search);
  const pages = useCursorPages(JSON.stringify(cleaned(search)));
  // Half a name is no name: the server would refuse it, and it has no fires.
  const named = search.job === undefined || isName(search.job);
  const fires = useLedger({ job: search.job, group: search.group, statuses: statusesOf(search), ...stretchOf(search) }, pages.cursor, named);
  const jobs = useJobs(search.job ?? '', '');
  const columns = useMemo(() => fireColumns(t, i18n.language, true), [t, i18n.language]);
  const show = (next: LedgerSearch) => void navigate({ to: '/ledger', search: cleaned(next), replace: true });
  const unknownJob = fires.error instanceof Problem && fires.error.status === 404;
  const rows = named && !unknownJob ? fires.data?.items : [];
  const filtered = Object.keys(cleaned(search)).length > 0;
  const empty = rows?.length === 0 && pages.page === 1 && !fires.data?.nextCursor;
  const partial = named && !unknownJob && fires.data?.partial === true;
  const choose = (next: Range) => show({ ...search, range: next !== 'all' || search.status === 'planned' ? next : undefined });

  return (
    <>
      <PageHead title={t('ledger.title')} name={t('ledger.title')}>
        <SearchField label={t('runs.search')} value={search.job ?? ''} suggestions={jobs.data?.items.map((job) => job.name) ?? []} onChange={(job) => show({ ...search, job })} />
        <NativeSelect
          aria-label={t('runs.filterStatus')} value={search.status ?? ''}
          data={[{ value: '', label: t('runs.anyStatus') }, ...fireStatuses.map((s) => ({ value: s, label: t(`status.${s}`) }))]}
          onChange={(event) => show({ ...search, status: fireStatuses.find((s) => s === event.currentTarget.value) })}
        />
        <NativeSelect
          aria-label={t('ledger.range')} value={range}
          data={[...(Object.keys(ranges) as Range[]), 'custom' as const].map((value) => ({ value, label: t(`ledger.ranges.${value}`) }))}
          onChange={(event) => choose(event.currentTarget.value as Range)}
        />
      </PageHead>
      {range === 'custom' && (
        <div className={classes.custom}>
          <TextInput type="datetime-local" label={t('ledger.from')} value={toLocalInput(search.from)} onChange={(e) => show({ ...search, from: fromLocalInput(e.currentTarget.value) })} />
          <TextInput type="datetime-local" label={t('ledger.to')} description={t('ledger.toHelp')} value={toLocalInput(search.to)} onChange={(e) => show({ ...search, to: fromLocalInput(e.currentTarget.value) })} />
        </div>
      )}
      <p className={classes.about}>{t('ledger.about')}</p>
      {fires.error && !rows && <ProblemNotice error={fires.error} onRetry={() => void fires.refetch()} />}
      {!rows && !fires.error && <Waiting rows={8} />}
      {partial && <PartialNotice />}
      {empty && !partial &&
        (filtered ? (
          <EmptyPage icon="search" title={t('ledger.nothingFound')}>
            <Button variant="default" onClick={() => show({})}>{t('ledger.clearFilter')}</Button>
          </EmptyPage>
        ) : (
          <EmptyPage icon="calendar" title={t('ledger.emptyTitle')}>
            <p>{t('ledger.emptyText')}</p>
            <Link to="/jobs">{t('runs.goToJobs')}</Link>
          </EmptyPage>
        ))}
      {rows && !empty && (
        <>
          <DataTable caption={t('ledger.table')} columns={columns} rows={rows} rowId={(fire) => fire.id} busy={fires.isPlaceholderData} />
          <Pager pages={pages} nextCursor={fires.data?.nextCursor} />
        </>
      )}
    </>
  );
}
