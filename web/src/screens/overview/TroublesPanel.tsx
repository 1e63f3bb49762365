import { ActionIcon, Button } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { useMemo, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { useFreshJob } from '../../api/jobs.ts';
import { useLastRuns } from '../../api/overview.ts';
import type { Run } from '../../api/types.ts';
import { useRights } from '../../parts/session.ts';
import { labelled } from '../../lib/lists.ts';
import { toggledIn } from '../../lib/toggled.ts';
import { troubleStatuses, type Trouble } from '../../lib/troubles.ts';
import { useSteady } from '../../lib/useSteady.ts';
import { FailureBar } from '../../parts/FailureBar.tsx';
import { Icon } from '../../parts/icons.tsx';
import { JobLink } from '../../parts/JobName.tsx';
import { Panel } from '../../parts/Panel.tsx';
import { showFailure } from '../../parts/showFailure.ts';
import { StatusBadge } from '../../parts/StatusBadge.tsx';
import { RelativeTime } from '../../parts/TimeText.tsx';
import { useRunNow } from '../../parts/useRunNow.tsx';
import { LastLine, Why } from '../../parts/Why.tsx';
import classes from './rows.module.css';

const shown = 8;
const idOf = (trouble: Trouble) => trouble.job;

/** Open failures of the last day by job, and the number of acknowledged ones: count, last reason, and whether the job has recovered. */
export function TroublesPanel({ troubles, acknowledged, partial }: { troubles: readonly Trouble[]; acknowledged: number; partial: boolean }) {
  const { t, i18n } = useTranslation();
  const may = useRights();
  const fresh = useMemo(() => troubles.slice(0, shown), [troubles]);
  const [selected, setSelected] = useState<ReadonlySet<string>>(new Set());
  const { rows, hidden, show, around } = useSteady(fresh, idOf, troubles.some(({ job }) => selected.has(job)));
  const last = useLastRuns(rows.map(({ row }) => row.job));
  const { run, dialog } = useRunNow();
  const job = useFreshJob();
  const again = (name: string) =>
    job.mutate(name, { onSuccess: ({ job: found }) => run(found), onError: (error) => showFailure(t, i18n.language, error) });
  const number = new Intl.NumberFormat(i18n.language);
  const all = { status: troubleStatuses.join(','), range: 'day', open: '1' };
  // Fires of selected jobs that are still listed.
  const picked = troubles.filter((trouble) => selected.has(trouble.job)).flatMap((trouble) => trouble.fires);

  return (
    <Panel title={t('overview.troubles')} side={rows.length > 0 && (
        <span className="spaced">
          {hidden > 0 && <Button size="compact-xs" variant="default" data-hidden={hidden} onClick={show}>{t('overview.showNew', { count: hidden })}</Button>}
          <Link to="/ledger" search={all} className={classes.side}>{t('overview.all')}</Link>
        </span>
      )}>
      {rows.length === 0 && !partial && <p className={classes.calm}>{t(acknowledged > 0 ? 'overview.wellAcknowledged' : 'overview.troublesNone')}</p>}
      {rows.length === 0 && partial && <p className={classes.calm}>{t('degraded.partial')}</p>}
      {rows.length > 0 && (
        <ul className={classes.rows} {...around} data-troubles="">
          {rows.map(({ row: trouble }) => (
            <li key={trouble.job} className={classes.row} data-trouble-of={trouble.job}>
              {may('operator', trouble.group ?? '') && (
                <input type="checkbox" className={classes.pick} aria-label={t('failures.selectJob', { job: trouble.job })} checked={selected.has(trouble.job)} onChange={() => setSelected(toggledIn(selected, [trouble.job]))} />
              )}
              <div className={classes.main}>
                <span className={classes.first}>
                  <JobLink job={trouble.job} title={trouble.last.jobTitle} className={classes.name} />
                  {[...trouble.counts].map(([status, count]) => (
                    <Link key={status} to="/ledger" search={{ job: trouble.job, status, range: 'day', open: '1' }} aria-label={labelled(t('overview.showFires', { job: trouble.job }), `${t(`status.${status}`)} ${number.format(count)}`, i18n.language)} className="nowrap">
                      <StatusBadge status={status} /> {number.format(count)}
                    </Link>
                  ))}
                  <Since run={last.get(trouble.job)} after={trouble.last.plannedAt} />
                </span>
                <span className={classes.second}>
                  {trouble.last.jobTitle && <span>{trouble.job}</span>}
                  {trouble.last.reason && <Why reason={trouble.last.reason} output />}
                  <RelativeTime at={trouble.last.plannedAt} />
                </span>
                {trouble.last.reason?.data?.lastLine && <LastLine text={trouble.last.reason.data.lastLine} />}
              </div>
              <div className={classes.acts}>
                {trouble.lastRun && <Link to="/runs/$id" params={{ id: trouble.lastRun }} aria-label={t('overview.logOf', { job: trouble.job })}>{t('overview.log')}</Link>}
                {may('operator', trouble.group ?? '') && (
                  <ActionIcon variant="default" size="md" aria-label={t('overview.againOf', { job: trouble.job })} title={t('overview.againOf', { job: trouble.job })} onClick={() => again(trouble.job)}>
                    <Icon name="play" size={14} />
                  </ActionIcon>
                )}
              </div>
            </li>
          ))}
        </ul>
      )}
      {troubles.length > fresh.length && <Link to="/ledger" search={all} className={classes.more}>{t('overview.more', { count: troubles.length - fresh.length })}</Link>}
      {acknowledged > 0 && <Link to="/ledger" search={{ status: troubleStatuses.join(','), range: 'day' }} className={classes.more} data-acknowledged="">{t('overview.besideAcknowledged', { count: acknowledged, number: number.format(acknowledged) })}</Link>}
      {dialog}
      {picked.length > 0 && <FailureBar fires={picked} onClear={() => setSelected(new Set())} />}
    </Panel>
  );
}

/** Reports whether the job has succeeded, or is running, since the failure. */
function Since({ run, after }: { run: Run | undefined; after: string }) {
  const { t } = useTranslation();
  if (!run || Date.parse(run.plannedAt) < Date.parse(after) || (run.status !== 'succeeded' && run.status !== 'running')) return null;
  return (
    <Link to="/runs/$id" params={{ id: run.id }} className="small" data-since={run.status}>
      {run.status === 'succeeded' ? t('overview.wellSince') : t('overview.runsAgain')}
    </Link>
  );
}
