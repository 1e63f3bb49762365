import { Link } from '@tanstack/react-router';
import type { TFunction } from 'i18next';
import type { Fire } from '../api/types.ts';
import { labelled } from '../lib/lists.ts';
import { formatTime } from '../lib/time.ts';
import { visible } from '../lib/visible.ts';
import { column, type Columns } from './DataTable.tsx';
import classes from './fireColumns.module.css';
import { FireWhen } from './FireWhen.tsx';
import { JobName } from './JobName.tsx';
import { StatusBadge } from './StatusBadge.tsx';
import { Why } from './Why.tsx';

/** The columns of the ledger; the job's own page omits the job. On a phone the reason is below the time. */
export function fireColumns(t: TFunction, language: string, withJob: boolean): Columns<Fire> {
  return [
    column<Fire>('status', t('runs.status'), (fire) => <FireStatus t={t} language={language} fire={fire} />),
    ...(withJob ? [column<Fire>('job', t('runs.job'), (fire) => <JobName job={fire.job} title={fire.jobTitle} />)] : []),
    column<Fire>('planned', t('runs.planned'), (fire) => (
      <>
        <FireWhen of={fire} />
        {fire.reason && <div className="small narrowOnly"><Why reason={fire.reason} /></div>}
      </>
    )),
    column<Fire>('cause', t('runs.cause'), (fire) => <span className="nowrap">{t(`cause.${fire.cause}`)}{fire.schedule && <span className="dim"> · {visible(fire.schedule)}</span>}</span>, false),
    column<Fire>('reason', t('run.reason'), (fire) => (fire.reason ? <Why reason={fire.reason} /> : <span className="dim">{t('common.none')}</span>), false),
    column<Fire>('attempts', t('ledger.attempts'), (fire) => <Attempts t={t} language={language} fire={fire} />, false),
  ];
}

function FireStatus({ t, language, fire }: { t: TFunction; language: string; fire: Fire }) {
  const last = fire.attempts.at(-1);
  const badge = <StatusBadge status={fire.status} />;
  if (last === undefined) return badge;
  return (
    <Link to="/runs/$id" params={{ id: last }} aria-label={labelled(t(`status.${fire.status}`), t('runs.open', { job: fire.job, time: formatTime(fire.plannedAt, language) }), language)}>
      {badge}
    </Link>
  );
}

function Attempts({ t, language, fire }: { t: TFunction; language: string; fire: Fire }) {
  if (fire.attempts.length === 0) return <span className="dim">{t('common.none')}</span>;
  return (
    <span className={`spaced ${classes.attempts}`}>
      {fire.attempts.map((id, i) => (
        <Link key={id} to="/runs/$id" params={{ id }} aria-label={t('ledger.attemptOf', { n: i + 1, job: fire.job, time: formatTime(fire.plannedAt, language) })}>
          {i + 1}
        </Link>
      ))}
    </span>
  );
}
