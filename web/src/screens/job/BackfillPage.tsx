import { NativeSelect } from '@mantine/core';
import { Link, useNavigate, useParams, useSearch } from '@tanstack/react-router';
import { useMemo, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { useBackfill, useBackfills, type Backfill } from '../../api/backfills.ts';
import { useJob } from '../../api/jobs.ts';
import { Problem } from '../../api/problem.ts';
import { statuses } from '../../api/runs.ts';
import type { Job, RunStatus } from '../../api/types.ts';
import { formatSeconds, secondsBetween } from '../../lib/duration.ts';
import { listed } from '../../lib/lists.ts';
import { formatPeriod } from '../../lib/time.ts';
import { inDeclaredOrder } from '../../lib/paramOrder.ts';
import { visible } from '../../lib/visible.ts';
import { DataTable } from '../../parts/DataTable.tsx';
import { EmptyPage } from '../../parts/EmptyPage.tsx';
import { Facts } from '../../parts/Facts.tsx';
import { Filled, slot } from '../../parts/Filled.tsx';
import { JobLink } from '../../parts/JobName.tsx';
import { PageHead } from '../../parts/PageHead.tsx';
import { Pager } from '../../parts/Pager.tsx';
import { Panel } from '../../parts/Panel.tsx';
import { PlainText } from '../../parts/PlainText.tsx';
import { ProblemNotice } from '../../parts/ProblemNotice.tsx';
import { zoneOf } from '../../parts/scheduleText.ts';
import { useCan } from '../../parts/session.ts';
import { RelativeTime, TimeText } from '../../parts/TimeText.tsx';
import { useCursorPages } from '../../parts/useCursorPages.ts';
import { Waiting } from '../../parts/Waiting.tsx';
import { Why } from '../../parts/Why.tsx';
import { BackfillActs } from './BackfillActs.tsx';
import { dateColumns } from './backfillColumns.tsx';
import { BackfillProgress, BackfillState } from './BackfillProgress.tsx';
import classes from './BackfillsPanel.module.css';
import { FireCalendar, type TimeRange } from './FireCalendar.tsx';
import { lastMonthOf } from './fireCalendar.ts';
import { NewBackfill } from './NewBackfill.tsx';
import { Yielded } from './Yielded.tsx';

const perPage = 50;

/** A backfill, live or ended: its request, its progress, its dates, and what gave way to it. */
export function BackfillPage() {
  const { t } = useTranslation();
  const { id } = useParams({ from: '/backfills/$id' });
  const { status } = useSearch({ from: '/backfills/$id' });
  const pages = useCursorPages(`${id} ${status ?? ''}`);
  const backfill = useBackfill(id, { status, cursor: pages.cursor, limit: perPage });
  if (backfill.error instanceof Problem && (backfill.error.status === 404 || backfill.error.status === 422) && !backfill.data) {
    return (
      <EmptyPage whole icon="question" title={t('backfill.notFound')}>
        <Link to="/backfills">{t('backfill.allJobs')}</Link>
      </EmptyPage>
    );
  }
  if (backfill.error && !backfill.data) return <ProblemNotice error={backfill.error} onRetry={() => void backfill.refetch()} />;
  if (backfill.data?.id !== id) return <Waiting rows={8} />;
  return <BackfillView key={id} backfill={backfill.data} pages={pages} status={status} busy={backfill.isPlaceholderData} />;
}

interface Props {
  backfill: Backfill;
  pages: ReturnType<typeof useCursorPages>;
  status: RunStatus | undefined;
  /** Other dates are being read. */
  busy: boolean;
}

function BackfillView({ backfill, pages, status, busy }: Props) {
  const { t } = useTranslation();
  const job = useJob(backfill.job).data?.job;
  const zone = job && zoneOf(job);
  const mayRun = useCan('operator', job?.group ?? '');
  return (
    <>
      <PageHead
        name={`${t('backfill.pageOf', { job: visible(job?.title ?? backfill.job) })} · ${backfill.state === 'ended' && backfill.status ? t(`status.${backfill.status}`) : t(`backfill.states.${backfill.state}`)}`}
        title={<><Filled text={t('backfill.pageOf', { job: slot })}><JobLink job={backfill.job} title={job?.title} /></Filled>{' '}<BackfillState backfill={backfill} /></>}
      >
        {mayRun && <BackfillActs backfill={backfill} />}
      </PageHead>
      <div className={classes.stack}>
        <Panel title={t('backfill.progress')}>
          <BackfillProgress backfill={backfill} />
          <Pace backfill={backfill} />
          {backfill.reason && <p className={classes.all}><Why reason={backfill.reason} /></p>}
        </Panel>
        <Settings backfill={backfill} zone={zone} declared={job?.params} />
        {backfill.yielded && job && <GaveWay job={job} yielded={backfill.yielded} mayRun={mayRun} />}
        {job && backfill.to && <Marked job={job} backfill={backfill} to={backfill.to} />}
        <Dates backfill={backfill} pages={pages} status={status} busy={busy} zone={zone} />
      </div>
    </>
  );
}

/** When it is expected to end, or how long it took. */
function Pace({ backfill: { state, counts, createdAt, endedAt, expectedEndAt } }: { backfill: Backfill }) {
  const { t, i18n } = useTranslation();
  const took = secondsBetween(createdAt, endedAt);
  const left = counts.waiting + counts.running;
  return (
    <p className={classes.all} data-pace="">
      {state === 'ended'
        ? took !== undefined && t('backfill.took', { time: formatSeconds(took, i18n.language) })
        : t('backfill.left', { count: left })}
      {state === 'running' && expectedEndAt && <>{' '}<Filled text={t('backfill.expected', { when: slot })}><RelativeTime at={expectedEndAt} ahead /></Filled></>}
    </p>
  );
}

/** What was requested, by whom and when. */
function Settings({ backfill, zone, declared }: { backfill: Backfill; zone: string | undefined; declared: Job['params'] }) {
  const { t, i18n } = useTranslation();
  const { from, to, reprocess, order, concurrency, maxFailures, includeUnknown, params = {}, by, note, createdAt, endedAt } = backfill;
  const range = from && to && formatPeriod(from, to, i18n.language, zone);
  return (
    <Panel title={t('common.about')}>
      <Facts
        entries={[
          [t('backfill.range'), range ? <>{range}{zone && <span className="dim"> ({zone})</span>}</> : <span className="dim">{t('backfill.notKept')}</span>],
          [t('backfill.reprocess'), reprocess && t(`backfill.reprocesses.${reprocess}`)],
          [t('backfill.includeUnknown'), includeUnknown && t('backfill.yes')],
          [t('backfill.order'), order && t(`backfill.orders.${order}`)],
          [t('backfill.concurrency'), concurrency !== undefined && String(concurrency)],
          [t('backfill.maxFailures'), maxFailures !== undefined && String(maxFailures)],
          [t('run.params'), Object.keys(params).length > 0 && <span className="break">{listed(inDeclaredOrder(params, declared).map(([name, value]) => `${name}=${visible(value)}`), i18n.language)}</span>],
          [t('run.triggeredBy'), by && <PlainText>{by}</PlainText>],
          [t('run.note'), note && <PlainText>{note}</PlainText>],
          [t('backfill.begun'), createdAt && <TimeText at={createdAt} zone={zone} />],
          [t('backfill.endedAt'), endedAt && <TimeText at={endedAt} zone={zone} />],
        ]}
      />
    </Panel>
  );
}

/** The planned fires that gave way, and the dialog that runs them. */
function GaveWay({ job, yielded, mayRun }: { job: Job; yielded: NonNullable<Backfill['yielded']>; mayRun: boolean }) {
  const { t } = useTranslation();
  const navigate = useNavigate();
  const others = useBackfills(job.name).data?.items;
  const [range, setRange] = useState<TimeRange>();
  return (
    <Panel title={t('backfill.gaveWay')} help={t('backfill.gaveWayHelp')}>
      <Yielded yielded={yielded} busy={others?.some(({ state }) => state !== 'ended') !== false} onRun={mayRun ? setRange : undefined} />
      {yielded.times.length > 0 && (
        <details>
          <summary>{t('backfill.theirTimes')}</summary>
          <ul className={classes.times}>{yielded.times.map((at) => <li key={at}><TimeText at={at} zone={zoneOf(job)} /></li>)}</ul>
        </details>
      )}
      {range && <NewBackfill job={job} range={range} onClose={() => setRange(undefined)} onStarted={({ id = '' }) => void navigate({ to: '/backfills/$id', params: { id } })} />}
    </Panel>
  );
}

/** The calendar of the job, on which the dates are marked. */
function Marked({ job, backfill, to }: { job: Job; backfill: Backfill; to: string }) {
  const [until, setUntil] = useState(() => lastMonthOf(zoneOf(job) ?? 'UTC', to));
  return <FireCalendar job={job} onRange={undefined} until={until} onUntil={setUntil} backfill={backfill.id} />;
}

/** The dates with their outcomes and runs, page by page, all or those with one status. */
function Dates({ backfill: { id = '', fires, nextCursor, job }, pages, status, busy, zone }: Props & { zone: string | undefined }) {
  const { t, i18n } = useTranslation();
  const navigate = useNavigate();
  const columns = useMemo(() => dateColumns(t, i18n.language, job, zone), [t, i18n.language, job, zone]);
  return (
    <Panel
      title={t('backfill.itsDates')}
      side={
        <NativeSelect
          size="xs" aria-label={t('runs.status')} value={status ?? ''} data={[{ value: '', label: t('backfill.anyStatus') }, ...statuses.map((value) => ({ value, label: t(`status.${value}`) }))]}
          onChange={(event) => void navigate({ to: '/backfills/$id', params: { id }, search: { status: statuses.find((one) => one === event.currentTarget.value) }, replace: true, resetScroll: false })}
        />
      }
    >
      <div className={classes.dates}>
        {fires && fires.length > 0 && <DataTable caption={t('backfill.itsDates')} columns={columns} rows={fires} rowId={({ at }) => at} busy={busy} />}
        {(!fires || fires.length === 0) && <p className="dim">{status ? t('backfill.noDates') : <>{t('backfill.datesNotKept')}{' '}<Link to="/runs" search={{ flowRun: id }}>{t('backfill.itsRuns')}</Link></>}</p>}
        <Pager pages={pages} nextCursor={nextCursor} />
      </div>
    </Panel>
  );
}
