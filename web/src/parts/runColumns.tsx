import { Link } from '@tanstack/react-router';
import type { TFunction } from 'i18next';
import type { Run } from '../api/types.ts';
import { formatSeconds, secondsBetween } from '../lib/duration.ts';
import { labelled } from '../lib/lists.ts';
import { formatTime } from '../lib/time.ts';
import { actorText } from './actorText.ts';
import { column, type Columns } from './DataTable.tsx';
import { begunAt, Elapsed } from './Elapsed.tsx';
import { ExpectedEnd } from './ExpectedEnd.tsx';
import { FireWhen } from './FireWhen.tsx';
import { Flag } from './Flag.tsx';
import { FlowRunLink } from './FlowRunLink.tsx';
import { JobName } from './JobName.tsx';
import { PlainText } from './PlainText.tsx';
import { Repeated } from './Repeated.tsx';
import { StatusBadge } from './StatusBadge.tsx';
import { Why } from './Why.tsx';

/** The columns of a list of runs; the job's own page omits the job. On a phone the reason is below the time. */
export function runColumns(t: TFunction, language: string, withJob: boolean): Columns<Run> {
  return [
    column<Run>('status', t('runs.status'), (run) => (
      <>
        <Link to="/runs/$id" params={{ id: run.id }} aria-label={labelled([t(`status.${run.status}`), ...(run.late || run.slow ? [t(run.late ? 'flags.late' : 'flags.slow')] : [])].join(' '), t('runs.open', { job: run.job, time: formatTime(run.plannedAt, language) }), language)}>
          <StatusBadge status={run.status} />
          {(run.late || run.slow) && <> <Flag kind={run.late ? 'late' : 'slow'} /></>}
        </Link>
        {run.last && <div className="small"><Repeated last={run.last} /></div>}
      </>
    )),
    ...(withJob
      ? [column<Run>('job', t('runs.job'), (run) => <><JobName job={run.job} title={run.jobTitle} /><FlowRunLink run={run} /></>)]
      : []),
    column<Run>('planned', t('runs.planned'), (run) => (
      <>
        <FireWhen of={run} />
        <div className="small narrowOnly">
          {run.status === 'running' ? <Going run={run} /> : run.endedAt && <span className="dim">{seconds(secondsBetween(run.startedAt, run.endedAt), language)}</span>}
          {run.reason && <div><Why reason={run.reason} /></div>}
        </div>
      </>
    )),
    column<Run>('cause', t('runs.cause'), (run) => (
      <>
        <span className="nowrap">{t(`cause.${run.cause}`)}</span>
        {run.attempt > 1 && <div className="small dim nowrap">{t('run.attemptNumber', { n: run.attempt })}</div>}
        {run.triggeredBy && <div className="small dim break">{actorText(t, run.triggeredBy)}</div>}
      </>
    ), false),
    column<Run>('delay', t('runs.delay'), (run) => <span className="nowrap">{seconds(secondsBetween(run.plannedAt, begunAt(run)), language)}</span>, false),
    column<Run>('duration', t('runs.duration'), (run) => (run.status === 'running' ? <Going run={run} /> : <span className="nowrap">{seconds(secondsBetween(run.startedAt, run.endedAt), language)}</span>), false),
    column<Run>('worker', t('runs.worker'), (run) => <PlainText>{run.workerName ?? run.worker ?? t('common.none')}</PlainText>, false),
    column<Run>('reason', t('run.reason'), (run) => (run.reason ? <Why reason={run.reason} /> : <span className="dim">{t('common.none')}</span>), false),
  ];
}

/** Progress of a run: its expected end, if known. */
function Going({ run }: { run: Run }) {
  return run.expectedEndAt ? <ExpectedEnd run={run} stacked /> : <Elapsed run={run} />;
}

function seconds(value: number | undefined, language: string): string {
  return value === undefined ? '–' : formatSeconds(value, language);
}
