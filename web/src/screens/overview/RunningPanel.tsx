import { Button } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { useMemo, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { useLiveRuns } from '../../api/live.ts';
import { useRunning } from '../../api/overview.ts';
import { isTerminal } from '../../api/runs.ts';
import type { Run, RunStatus } from '../../api/types.ts';
import { useIsGone } from '../../api/workers.ts';
import { useRights } from '../../parts/session.ts';
import { formatSeconds } from '../../lib/duration.ts';
import { inFull } from '../../lib/time.ts';
import { useNow } from '../../lib/useNow.ts';
import { useSteady } from '../../lib/useSteady.ts';
import { BackfillDate, backfillOf } from '../../parts/BackfillDate.tsx';
import { ExpectedEnd } from '../../parts/ExpectedEnd.tsx';
import { Flag } from '../../parts/Flag.tsx';
import { Icon } from '../../parts/icons.tsx';
import { JobLink } from '../../parts/JobName.tsx';
import { KillDialog } from '../../parts/KillDialog.tsx';
import { Panel } from '../../parts/Panel.tsx';
import { PlainText } from '../../parts/PlainText.tsx';
import { ProblemNotice } from '../../parts/ProblemNotice.tsx';
import { StatusBadge } from '../../parts/StatusBadge.tsx';
import { Waiting } from '../../parts/Waiting.tsx';
import classes from './rows.module.css';

const shown = 8;
const begun = (run: Run) => Date.parse(run.startedAt ?? run.claimedAt ?? run.plannedAt);
const idOf = (run: Run) => run.id;

/** Current runs: overdue ones first, then by duration, so that short runs change only the end of the list. */
export function RunningPanel({ count }: { count: number | undefined }) {
  const { t, i18n } = useTranslation();
  const running = useRunning();
  const may = useRights();
  const now = useNow(1000);
  const [killing, setKilling] = useState<Run | undefined>();
  const [ended, setEnded] = useState<ReadonlyMap<string, RunStatus>>(new Map());
  const fresh = useMemo(
    () => [...(running.data?.items ?? [])].sort((a, b) => Number(b.slow ?? false) - Number(a.slow ?? false) || begun(a) - begun(b) || a.id.localeCompare(b.id)).slice(0, shown),
    [running.data],
  );
  const { rows, around } = useSteady(fresh, idOf, killing !== undefined);
  useLiveRuns((event) => {
    const status = event.status as RunStatus;
    if (!isTerminal(status) || !rows.some(({ row }) => row.id === event.id)) return;
    // Only visible ones matter, and they are few.
    setEnded((before) => new Map([...[...before].slice(-2 * shown), [event.id, status]]));
  });
  const isGone = useIsGone();
  const all = Math.max(count ?? 0, running.data?.items.length ?? 0);

  return (
    <Panel title={t('overview.running')} side={all > 0 && <Link to="/runs" search={{ status: 'running' }} className={classes.side}>{t('overview.allOf', { number: new Intl.NumberFormat(i18n.language).format(all) })}</Link>}>
      {running.error && !running.data && <ProblemNotice error={running.error} onRetry={() => void running.refetch()} />}
      {!running.data && !running.error && <Waiting rows={3} />}
      {running.data && rows.length === 0 && <p className={classes.calm}>{t('overview.runningNone')}</p>}
      {rows.length > 0 && (
        <ul className={classes.rows} {...around} data-running="">
          {rows.map(({ row: run, gone }) => (
            <li key={run.id} className={classes.row} data-gone={gone || undefined} data-run={run.id}>
              <div className={classes.main}>
                <span className={classes.first}>
                  <JobLink job={run.job} title={run.jobTitle} run={run.id} className={classes.name} />
                  {gone && <StatusBadge status={ended.get(run.id) ?? 'succeeded'} />}
                  {run.slow && !gone && <Flag kind="slow" />}
                </span>
                <span className={classes.second}>
                  {run.jobTitle && <span>{run.job}</span>}
                  <time dateTime={run.claimedAt} title={inFull(run.startedAt ?? run.claimedAt ?? run.plannedAt, i18n.language)}>
                    {t('overview.elapsed', { time: formatSeconds(Math.max(0, Math.floor((now - begun(run)) / 1000)), i18n.language) })}
                  </time>
                  {run.workerName && (isGone(run.worker)
                    ? <strong className={classes.lost} title={t('overview.onGoneText')}><PlainText>{t('overview.onGone', { worker: run.workerName })}</PlainText></strong>
                    : <span><PlainText>{t('overview.on', { worker: run.workerName })}</PlainText></span>)}
                  {run.cause !== 'cron' && <span>{run.cause === 'backfill' ? <BackfillDate at={run.plannedAt} backfill={backfillOf(run)} /> : t(`cause.${run.cause}`)}</span>}
                  {run.attempt > 1 && <span>{t('overview.attempt', { n: run.attempt })}</span>}
                </span>
              </div>
              {!gone && run.expectedEndAt && <div className={classes.end}><ExpectedEnd run={run} /></div>}
              {may('operator', run.group ?? '') && (
                <div className={classes.acts}>
                  <Button size="xs" variant="default" disabled={gone} aria-label={t('overview.killRun', { job: run.job })} onClick={() => setKilling(run)}><Icon name="stop" size={14} /><span className={classes.word}>{t('overview.kill')}</span></Button>
                </div>
              )}
            </li>
          ))}
        </ul>
      )}
      {all > rows.length && rows.length >= shown && <Link to="/runs" search={{ status: 'running' }} className={classes.more}>{t('overview.more', { count: all - rows.length })}</Link>}
      {killing && <KillDialog id={killing.id} job={killing.job} jobTitle={killing.jobTitle} onClose={() => setKilling(undefined)} />}
    </Panel>
  );
}
