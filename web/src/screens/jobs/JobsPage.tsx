import { ActionIcon, Modal, NativeSelect } from '@mantine/core';
import { useMediaQuery } from '@mantine/hooks';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { lazy, Suspense, useCallback, useEffect, useMemo, useRef, useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { BulkAction } from '../../api/bulk.ts';
import { allJobs, useFirstJobs, useJobStretch } from '../../api/jobList.ts';
import type { Job } from '../../api/types.ts';
import { useRights } from '../../parts/session.ts';
import { loadRest } from '../../i18n/index.ts';
import { filterKey, isNarrowed, jobOrders, type JobFilter, type JobSort } from '../../lib/jobFilter.ts';
import { useStored } from '../../lib/stored.ts';
import { DeleteJobDialog } from '../../parts/DeleteJobDialog.tsx';
import { Icon } from '../../parts/icons.tsx';
import { PageHead } from '../../parts/PageHead.tsx';
import { PauseOrResume } from '../../parts/PauseOrResume.tsx';
import { ProblemNotice } from '../../parts/ProblemNotice.tsx';
import { SearchField } from '../../parts/SearchField.tsx';
import { useRunNow } from '../../parts/useRunNow.tsx';
import { Waiting } from '../../parts/Waiting.tsx';
import { ActiveFilters } from './ActiveFilters.tsx';
import { columnIds, hiddenAtFirst, type ColumnId } from './columns.ts';
import { NoJobs, NoMatch } from './EmptyJobs.tsx';
import { FilterPanel } from './FilterPanel.tsx';
import { JobTable, type Anchor } from './JobTable.tsx';
import classes from './JobsPage.module.css';
import { NewMenu, ViewMenu } from './PageMenus.tsx';
import { allowed, between, extentOf, none, toggled, withAll, type Picked, type Selection } from './selection.ts';
import { NameDialog } from './SavedFilters.tsx';
import { SelectionBar } from './SelectionBar.tsx';
import { useExport } from './useExport.ts';
import { useSavedFilters } from './useSavedFilters.ts';

// Dialogs are loaded on demand: the list is opened most often.
const BulkDialog = lazy(() => import('./BulkDialog.tsx').then((m) => ({ default: m.BulkDialog })));
const ManySettings = lazy(() => import('../../parts/ManySettings.tsx').then((m) => ({ default: m.ManySettings })));
const ImportDialog = lazy(() => import('../editor/ImportDialog.tsx').then((m) => ({ default: m.ImportDialog })));

/** Maximum number of jobs per bulk action. */
const mostAtOnce = 5000;
/** Maximum number of rows that jobs may have moved meanwhile. */
const moved = 50;

const pick = (job: Job): Picked => ({ name: job.name, title: job.title, group: job.group ?? '', paused: job.meta.paused === true, hidden: job.meta.hidden === true, settings: { notify: job.notify, group: job.group, labels: job.labels, retry: job.retry, timeout: job.timeout, placement: job.placement } });

function readColumns(value: unknown): ColumnId[] {
  if (!Array.isArray(value)) return columnIds.filter((id) => !hiddenAtFirst.includes(id));
  return columnIds.filter((id) => value.includes(id));
}

/** The filter whose first page is loaded: while another one loads, its list stays. */
function useShownFilter(wanted: JobFilter) {
  const first = useFirstJobs(wanted);
  const [shown, setShown] = useState(wanted);
  if (first.data && filterKey(shown) !== filterKey(wanted)) setShown(wanted);
  const here = useFirstJobs(shown);
  return { shown, total: here.data?.total, busy: filterKey(shown) !== filterKey(wanted), error: first.error ?? undefined, retry: () => void first.refetch() };
}

export function JobsPage() {
  const { t, i18n } = useTranslation();
  const filter = useSearch({ from: '/jobs' });
  const navigate = useNavigate();
  const may = useRights();
  const phone = useMediaQuery('(max-width: 62em)', undefined, { getInitialValueInEffect: false });
  const { shown, total, busy, error, retry } = useShownFilter(filter);
  const [columns, setColumns] = useStored('carillon-job-columns', readColumns);
  const [selection, setSelection] = useState<Selection>(none);
  const [gathering, setGathering] = useState(false);
  const [bulk, setBulk] = useState<BulkAction | undefined>();
  const [editing, setEditing] = useState(false);
  const [filtering, setFiltering] = useState(false);
  const [importing, setImporting] = useState(false);
  const [pausing, setPausing] = useState<Job | undefined>();
  const [deleting, setDeleting] = useState<Job | undefined>();
  const [failed, setFailed] = useState<Error | undefined>();
  const anchor = useRef<Anchor | undefined>(undefined);
  const gathers = useRef<AbortController | undefined>(undefined);
  const stretch = useJobStretch();
  const exporting = useExport();
  const saved = useSavedFilters(filter);
  const [naming, setNaming] = useState(false);
  const onSave = saved.maySave ? () => setNaming(true) : undefined;
  const { run, ask, dialog } = useRunNow();

  const change = useCallback((next: JobFilter) => void navigate({ to: '/jobs', search: next, replace: true }), [navigate]);
  const { sort: _, ...narrowing } = filter;
  const narrowed = filterKey(narrowing);
  const listed = filterKey(filter);
  // The selection belongs to this list; a pending request of another list is not awaited.
  const selectNone = useCallback(() => {
    gathers.current?.abort();
    gathers.current = undefined;
    anchor.current = undefined;
    setGathering(false);
    setSelection(none);
  }, []);
  useEffect(() => {
    selectNone();
    return () => gathers.current?.abort();
  }, [narrowed, selectNone]);
  useEffect(() => {
    anchor.current = undefined;
  }, [listed]);

  const acts = useMemo(
    () => ({
      mayRun: (job: Job) => may('operator', job.group ?? ''), mayEdit: (job: Job) => may('editor', job.group ?? ''),
      onRun: run, onAsk: ask, onPause: setPausing, onDelete: setDeleting,
    }),
    [may, run, ask],
  );
  /** Adds jobs to the selection, or to none, unless another list is shown by then. */
  const gather = async (find: (signal: AbortSignal) => Promise<Picked[]>, alone = false) => {
    const { signal } = (gathers.current ??= new AbortController());
    setFailed(undefined);
    try {
      const found = await find(signal);
      if (!signal.aborted) setSelection((now) => withAll(alone ? none : now, found));
    } catch (cause) {
      if (!signal.aborted) setFailed(cause as Error);
    }
    if (!signal.aborted) setGathering(false);
  };
  const selectTo = (row: number, name: string | undefined) =>
    gather(async () => {
      const from = anchor.current ?? { row, name };
      const to = Math.max(from.row - mostAtOnce + 1, Math.min(from.row + mostAtOnce - 1, row));
      const first = Math.max(0, Math.min(from.row, to) - moved);
      const jobs = await stretch(shown, first, Math.max(from.row, to) + 1 + moved);
      const last = (to === row ? name : undefined) ?? jobs[to - first]?.name ?? '';
      // If the list has changed, only the clicked job is certain.
      return (between(jobs, from.name ?? last, last) ?? jobs.filter((job) => job.name === last)).map(pick);
    });
  const picked = extentOf(selection, total ?? 0, mostAtOnce);
  const selectAll = () => {
    if (gathering) return Promise.resolve();
    setGathering(true);
    return gather(async (signal) => {
      const all: Picked[] = [];
      for await (const { items } of allJobs(filter, signal)) {
        all.push(...items.map(pick));
        if (all.length >= mostAtOnce) break;
      }
      return all.slice(0, mostAtOnce);
    }, true);
  };
  // Its texts are the editor's, which are not loaded with the list.
  const openImport = () => void loadRest(i18n).then(() => setImporting(true), setFailed);
  const role = bulk === 'delete' || editing ? 'editor' : 'operator';
  const { yes, no } = useMemo(() => allowed(selection, (group) => may(role, group)), [selection, may, role]);
  const mayEdit = may('editor');
  const empty = total === 0;
  const noJobs = empty && !isNarrowed(shown);
  const number = new Intl.NumberFormat(i18n.language);
  const panel = <FilterPanel filter={filter} saved={saved} onChange={change} />;

  return (
    <>
      <PageHead title={<>{t('jobs.title')} {total !== undefined && !noJobs && <span className={classes.total} aria-hidden="true">{number.format(total)}</span>}</>} name={t('jobs.title')}>
        {!noJobs && <SearchField label={t('jobs.search')} value={filter.q ?? ''} patience={0} onChange={(q) => change({ ...filter, q: q || undefined })} />}
        {!noJobs && phone && (
          <ActionIcon variant={isNarrowed({ ...filter, q: undefined }) ? 'light' : 'default'} size={36} aria-label={t('jobs.filters')} onClick={() => setFiltering(true)}><Icon name="filter" /></ActionIcon>
        )}
        {!noJobs && phone && (
          <NativeSelect
            className={classes.sort} aria-label={t('jobs.sort')} value={filter.sort ?? 'name'} onChange={(event) => change({ ...filter, sort: event.currentTarget.value === 'name' ? undefined : (event.currentTarget.value as JobSort) })}
            data={jobOrders.flatMap((order) => [{ value: order, label: t(`jobs.sorts.${order}`) }, { value: `-${order}`, label: t(`jobs.sortsDown.${order}`) }])}
          />
        )}
        {!noJobs && <ViewMenu shown={columns} onShown={setColumns} onExport={empty || exporting.progress !== undefined ? undefined : () => exporting.start(filter)} onSave={onSave} />}
        {mayEdit && <NewMenu brief={!noJobs} onImport={openImport} />}
      </PageHead>
      {error && <ProblemNotice error={error} onRetry={retry} />}
      {failed && <ProblemNotice error={failed} />}
      {noJobs ? <NoJobs mayEdit={mayEdit} onImport={openImport} /> : (
        <div className={classes.split2}>
          {!phone && <aside className={classes.side}>{panel}</aside>}
          <div className={classes.main}>
            <ActiveFilters filter={filter} onChange={change} onSave={onSave} />
            {total === undefined && !error && <Waiting rows={8} />}
            {empty && <NoMatch filter={shown} onClear={() => change({})} />}
            {total !== undefined && !empty && (
              <JobTable
                filter={shown} total={total} busy={busy} wanted={columns} selection={selection} picked={picked} anchor={anchor} {...acts}
                onSelect={(job) => setSelection((now) => toggled(now, pick(job)))} onSelectTo={(row, name) => void selectTo(row, name)} onSelectAll={() => (picked === 'all' ? selectNone() : void selectAll())}
                onSort={(sort) => change({ ...filter, sort })}
              />
            )}
            {selection.size > 0 && (
              <SelectionBar
                count={selection.size} total={total ?? 0} mostAtOnce={mostAtOnce} gathering={gathering} mayRun={may('operator')} mayEdit={mayEdit}
                onSelectAll={phone ? () => void selectAll() : undefined} onClear={selectNone} onAct={setBulk} onSettings={() => void loadRest(i18n).then(() => setEditing(true), setFailed)} onExport={exporting.progress === undefined ? () => exporting.start(filter, new Set(selection.keys())) : undefined}
              />
            )}
          </div>
        </div>
      )}
      {exporting.progress !== undefined && (
        <div className={classes.progress} role="status">{t('jobs.exporting', { percent: Math.round(exporting.progress * 100) })} <button type="button" onClick={exporting.stop}>{t('common.cancel')}</button></div>
      )}
      <Modal opened={filtering && phone === true} onClose={() => setFiltering(false)} fullScreen title={t('jobs.filters')} closeButtonProps={{ 'aria-label': t('common.close') }}>{panel}</Modal>
      {naming && <NameDialog filter={filter} saved={saved.saved} onClose={() => setNaming(false)} />}
      <Suspense>
        {bulk && (
          <BulkDialog
            action={bulk} jobs={yes} leftOut={no}
            onClose={(done) => {
              setBulk(undefined);
              if (done) setSelection(none);
            }}
          />
        )}
        {editing && (
          <ManySettings
            jobs={yes.map(({ name, settings }) => ({ name, ...settings }))} leftOut={no.length}
            onClose={(done) => {
              setEditing(false);
              if (done) setSelection(none);
            }}
          />
        )}
        {importing && <ImportDialog onClose={() => setImporting(false)} />}
      </Suspense>
      {dialog}
      {pausing && <PauseOrResume job={pausing} onClose={() => setPausing(undefined)} />}
      {deleting !== undefined && <DeleteJobDialog name={deleting.name} title={deleting.title} onClose={() => setDeleting(undefined)} />}
    </>
  );
}
