import { Link } from '@tanstack/react-router';
import type { TFunction } from 'i18next';
import type { Run } from '../api/types.ts';
import { formatSeconds, secondsBetween } from '../lib/duration.ts';
import { formatTime } from '../lib/time.ts';
import { column, type Columns } from './DataTable.tsx';
import { StatusBadge } from './StatusBadge.tsx';
import { TimeText } from './TimeText.tsx';

/** The columns of a list of runs; the job's own page leaves the job out. */
export function runColumns(t: TFunction, language: string, withJob: boolean): Columns<Run> {
  return [
    column<Run>('status', t('runs.status'), (run) => (
      <Link to="/runs/$id" params={{ id: run.id }} aria-label={`${t(`status.${run.status}`)}: ${t('runs.open', { job: run.job, time: formatTime(run.plannedAt, language) })}`}>
        <StatusBadge status={run.status} />
      </Link>
    )),
    ...(withJob
      ? [column<Run>('job', t('runs.job'), (run) => <Link to="/jobs/$name" params={{ name: run.job }}>{run.job}</Link>)]
      : []),
    column<Run>('planned', t('runs.planned'), (run) => (
      <>
        <TimeText at={run.plannedAt} />
        {run.gap && <div className="small dim">{t('runs.gap', { count: run.gap.count, to: formatTime(run.gap.to, language) })}</div>}
      </>
    )),
    column<Run>('cause', t('runs.cause'), (run) => t(`cause.${run.cause}`), false),
    column<Run>('delay', t('runs.delay'), (run) => seconds(secondsBetween(run.plannedAt, run.startedAt)), false),
    column<Run>('duration', t('runs.duration'), (run) => seconds(secondsBetween(run.startedAt, run.endedAt)), false),
    column<Run>('worker', t('runs.worker'), (run) => run.workerName ?? run.worker ?? '–', false),
  ];
}

function seconds(value: number | undefined): string {
  return value === undefined ? '–' : formatSeconds(value);
}
