import { ActionIcon, Button } from '@mantine/core';
import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { useMemo, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { pageSize } from '../../api/jobs.ts';
import { isTerminal, useRun, useRuns } from '../../api/runs.ts';
import type { Run } from '../../api/types.ts';
import type { RunSearch } from '../../lib/searchParams.ts';
import { useRights } from '../../parts/session.ts';
import { isName, isRunJob } from '../../lib/names.ts';
import { useSteady } from '../../lib/useSteady.ts';
import { visible } from '../../lib/visible.ts';
import { column, DataTable } from '../../parts/DataTable.tsx';
import { EarlyEnd } from '../../parts/EarlyEnd.tsx';
import { EmptyPage } from '../../parts/EmptyPage.tsx';
import { Filled, slot } from '../../parts/Filled.tsx';
import { Icon } from '../../parts/icons.tsx';
import { NoSuchJob } from '../../parts/NoSuchJob.tsx';
import { KillDialog } from '../../parts/KillDialog.tsx';
import { PageHead } from '../../parts/PageHead.tsx';
import { PartialNotice } from '../../parts/PartialNotice.tsx';
import { Pager } from '../../parts/Pager.tsx';
import { ProblemNotice } from '../../parts/ProblemNotice.tsx';
import { runColumns } from '../../parts/runColumns.tsx';
import { Terms } from '../../parts/Terms.tsx';
import { useCursorPages } from '../../parts/useCursorPages.ts';
import { Waiting } from '../../parts/Waiting.tsx';
import { cleaned, exitCodeOf, filterOf } from './filters.ts';
import { RunFilters } from './RunFilters.tsx';
import classes from './RunsPage.module.css';

/** All runs, newest first, live. */
export function RunsPage() {
  const { t } = useTranslation();
  const search = cleaned(useSearch({ from: '/runs' }));
  const navigate = useNavigate();
  const subject = JSON.stringify(search);
  const pages = useCursorPages(subject);
  // What can be no name or exit code is not sent: the server would refuse them, and they match nothing.
  const sensible =
    (search.job === undefined || isRunJob(search.job)) && (search.worker === undefined || isName(search.worker)) && (search.exitCode === undefined || exitCodeOf(search.exitCode) !== undefined);
  const runs = useRuns(filterOf(search), pages.cursor, { enabled: sensible });
  const show = (next: RunSearch) => void navigate({ to: '/runs', search: cleaned(next), replace: true });
  const rows = sensible ? runs.data?.items : [];
  const partial = sensible && runs.data?.partial === true;
  const next = sensible ? runs.data?.nextCursor : undefined;
  const empty = rows?.length === 0 && pages.page === 1 && !next;
  const early = rows !== undefined && next !== undefined && rows.length < pageSize;

  return (
    <>
      <PageHead title={t('runs.title')} help={<Terms />} name={t('runs.title')}>
        <Button variant="default" leftSection={<Icon name="search" size={16} />} renderRoot={(props) => <Link to="/search" search={search.job ? { job: search.job } : {}} {...props} />}>
          {t('search.open')}
        </Button>
      </PageHead>
      <RunFilters search={search} onChange={show} />
      {search.flowRun !== undefined && <OfFlowRun id={search.flowRun} onClear={() => show({ ...search, flowRun: undefined })} />}
      {runs.error && !rows && <ProblemNotice error={runs.error} onRetry={() => void runs.refetch()} />}
      {!rows && !runs.error && <Waiting rows={8} />}
      {partial && <PartialNotice />}
      {empty && !partial &&
        (Object.keys(search).length > 0 ? (
          <EmptyPage icon="search" title={t('runs.nothingFound')}>
            {search.job !== undefined && <NoSuchJob job={search.job} onChoose={(job) => show({ ...search, job })} />}
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
          {rows.length > 0 && <RunsTable key={`${subject} ${pages.cursor} ${runs.isPlaceholderData}`} runs={rows} busy={runs.isPlaceholderData} />}
          {early && <EarlyEnd found={rows.length} busy={runs.isPlaceholderData} onGoOn={() => pages.next(next)} />}
          {rows.length === 0 && !next && <p className="dim">{t('early.end')}</p>}
          <Pager pages={pages} nextCursor={next} />
        </>
      )}
    </>
  );
}

/** Names the flow run whose nodes are listed. */
function OfFlowRun({ id, onClear }: { id: string; onClear: () => void }) {
  const { t } = useTranslation();
  const run = useRun(id).data;
  return (
    <p className={classes.flowRun} data-flow-run={id}>
      <span>
        <Filled text={t('flowRun.listed', { run: slot })}><Link to="/runs/$id" params={{ id }} className={classes.beside}>{run ? t('flowRun.runOf', { flow: visible(run.jobTitle ?? run.job) }) : t('flowRun.oneRun')}</Link></Filled>
      </span>
      <Button size="compact-sm" variant="default" onClick={onClear}>{t('runs.clearFilter')}</Button>
    </p>
  );
}

const idOf = (run: Run) => run.id;

/** The list, which does not move while the pointer is on it. */
function RunsTable({ runs, busy }: { runs: Run[]; busy: boolean }) {
  const { t, i18n } = useTranslation();
  const may = useRights();
  const [killing, setKilling] = useState<Run | undefined>();
  const { rows, around } = useSteady(runs, idOf, killing !== undefined);
  const gone = new Set(rows.flatMap((row) => (row.gone ? row.row.id : [])));
  const columns = useMemo(
    () => [
      ...runColumns(t, i18n.language, true),
      column<Run>('actions', t('runs.acts'), (run) => {
        if (isTerminal(run.status) || !may('operator', run.group ?? '')) return null;
        const name = t(run.status === 'waiting' ? 'runs.cancelRun' : 'runs.killRun', { job: run.job });
        return (
          <div className={classes.acts}>
            <ActionIcon variant="subtle" color="red" size="lg" aria-label={name} title={name} onClick={() => setKilling(run)}><Icon name="stop" size={16} /></ActionIcon>
          </div>
        );
      }),
    ],
    [t, i18n.language, may],
  );
  return (
    <>
      <div {...around}>
        <DataTable cards caption={t('runs.table')} columns={columns} rows={rows.map(({ row }) => row)} rowId={idOf} isGone={({ id }) => gone.has(id)} busy={busy} />
      </div>
      {killing && <KillDialog id={killing.id} job={killing.job} jobTitle={killing.jobTitle} waits={killing.status === 'waiting'} onClose={() => setKilling(undefined)} />}
    </>
  );
}
