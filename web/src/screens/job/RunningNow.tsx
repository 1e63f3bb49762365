import { Button } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { useGoing } from '../../api/jobRuns.ts';
import type { Run } from '../../api/types.ts';
import { formatSeconds } from '../../lib/duration.ts';
import { labelled } from '../../lib/lists.ts';
import { formatTime } from '../../lib/time.ts';
import { useNow } from '../../lib/useNow.ts';
import { actorText } from '../../parts/actorText.ts';
import { BackfillDate, backfillOf } from '../../parts/BackfillDate.tsx';
import { ExpectedEnd } from '../../parts/ExpectedEnd.tsx';
import { Filled, slot } from '../../parts/Filled.tsx';
import { Flag } from '../../parts/Flag.tsx';
import { Icon } from '../../parts/icons.tsx';
import { KillDialog } from '../../parts/KillDialog.tsx';
import { PlainText } from '../../parts/PlainText.tsx';
import { StatusBadge } from '../../parts/StatusBadge.tsx';
import { Why } from '../../parts/Why.tsx';
import classes from './RunningNow.module.css';

const most = 5;

/** The waiting and running runs of the job with their expected end; nothing if there are none. */
export function RunningNow({ job, mayKill }: { job: string; mayKill: boolean }) {
  const { t } = useTranslation();
  const going = useGoing(job);
  const [killing, setKilling] = useState<Run | undefined>();
  // Runs that wait for the end of a pause are covered by the notice of the pause.
  const runs = (going.data?.items ?? []).filter((run) => !run.gap && run.reason?.code !== 'paused').sort((a, b) => Number(a.status === 'waiting') - Number(b.status === 'waiting') || a.plannedAt.localeCompare(b.plannedAt));
  if (runs.length === 0 && killing === undefined) return null;
  return (
    <section aria-label={t('job.going')} data-going="">
      <ul className={classes.list}>
        {runs.slice(0, most).map((run) => <Going key={run.id} run={run} onKill={mayKill && run.attempt > 0 ? () => setKilling(run) : undefined} />)}
      </ul>
      {runs.length > most && <Link to="/runs" search={{ job }} className="small">{t('job.moreGoing', { count: runs.length - most })}</Link>}
      {killing !== undefined && <KillDialog id={killing.id} job={killing.job} jobTitle={killing.jobTitle} waits={killing.status === 'waiting'} onClose={() => setKilling(undefined)} />}
    </section>
  );
}

function Going({ run, onKill }: { run: Run; onKill: (() => void) | undefined }) {
  const { t, i18n } = useTranslation();
  const now = useNow(1000, run.status === 'running');
  // The start is written with the end: until then the time of the claim is known.
  const begun = run.status === 'running' ? (run.startedAt ?? run.claimedAt ?? run.plannedAt) : undefined;
  const name = t('runs.open', { job: run.job, time: formatTime(run.plannedAt, i18n.language) });
  const kill = t(run.status === 'waiting' ? 'common.cancel' : 'overview.kill');
  return (
    <li className={classes.run}>
      <Link to="/runs/$id" params={{ id: run.id }} aria-label={labelled(t(`status.${run.status}`), name, i18n.language)}><StatusBadge status={run.status} /></Link>
      {(run.late || run.slow) && <Flag kind={run.late ? 'late' : 'slow'} />}
      <span className={classes.facts}>
        {begun !== undefined && <span className="nowrap">{t('job.since', { time: formatSeconds(Math.max(0, Math.floor((now - Date.parse(begun)) / 1000)), i18n.language) })}</span>}
        {run.attempt > 1 && <span>{t('run.attemptNumber', { n: run.attempt })}</span>}
        {(run.workerName ?? run.worker) && <span><Filled text={t('job.on', { worker: slot })}><PlainText>{run.workerName ?? run.worker ?? ''}</PlainText></Filled></span>}
        {run.cause === 'backfill' && <span><BackfillDate at={run.plannedAt} backfill={backfillOf(run)} /></span>}
        {run.triggeredBy && <span><Filled text={t('job.triggeredBy', { who: slot })}><span className="break">{actorText(t, run.triggeredBy)}</span></Filled></span>}
        {run.reason && run.status === 'waiting' && <Why reason={run.reason} />}
      </span>
      <ExpectedEnd run={run} />
      {onKill && (
        <Button size="xs" variant="default" aria-label={labelled(kill, name, i18n.language)} leftSection={<Icon name="stop" size={14} />} onClick={onKill}>{kill}</Button>
      )}
    </li>
  );
}
