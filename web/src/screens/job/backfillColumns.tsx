import { Link } from '@tanstack/react-router';
import type { TFunction } from 'i18next';
import type { Backfill } from '../../api/backfills.ts';
import { labelled } from '../../lib/lists.ts';
import { formatPeriod, formatTime } from '../../lib/time.ts';
import { column, type Columns } from '../../parts/DataTable.tsx';
import { JobName } from '../../parts/JobName.tsx';
import { PlainText } from '../../parts/PlainText.tsx';
import { StatusBadge } from '../../parts/StatusBadge.tsx';
import { TimeText } from '../../parts/TimeText.tsx';
import { BackfillProgress, BackfillState } from './BackfillProgress.tsx';
import classes from './BackfillsPanel.module.css';

type BackfillFire = NonNullable<Backfill['fires']>[number];

/** The columns of the dates of a backfill. */
export function dateColumns(t: TFunction, language: string, job: string, zone: string | undefined): Columns<BackfillFire> {
  return [
    column<BackfillFire>('status', t('runs.status'), ({ status, run, at }) => (run
      ? <Link to="/runs/$id" params={{ id: run }} aria-label={labelled(t(`status.${status}`), t('runs.open', { job, time: formatTime(at, language) }), language)}><StatusBadge status={status} /></Link>
      : <StatusBadge status={status} />)),
    column<BackfillFire>('planned', t('runs.planned'), ({ at }) => <TimeText at={at} zone={zone} />),
    column<BackfillFire>('attempt', t('run.attempt'), ({ attempt, run }) => (run ? run.slice(run.lastIndexOf('.') + 1) : String(attempt))),
  ];
}

/** The columns of the backfills of all jobs. */
export function backfillColumns(t: TFunction, language: string): Columns<Backfill> {
  return [
    column<Backfill>('job', t('runs.job'), ({ job }) => <JobName job={job} title={undefined} />),
    column<Backfill>('range', t('backfill.range'), ({ id = '', from, to, createdAt }) => <Link to="/backfills/$id" params={{ id }}>{from && to ? formatPeriod(from, to, language) : createdAt ? formatTime(createdAt, language) : id}</Link>),
    column<Backfill>('state', t('runs.status'), (backfill) => <BackfillState backfill={backfill} />),
    column<Backfill>('progress', t('backfill.progress'), (backfill) => <div className={classes.figures}><BackfillProgress backfill={backfill} /></div>),
    column<Backfill>('begun', t('backfill.begun'), ({ createdAt }) => createdAt && <TimeText at={createdAt} />, false),
    column<Backfill>('by', t('run.triggeredBy'), ({ by }) => (by ? <PlainText>{by}</PlainText> : <span className="dim">{t('common.none')}</span>), false),
  ];
}
