import { Button } from '@mantine/core';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { Run, Worker } from '../../api/types.ts';
import { useRunsOn } from '../../api/workers.ts';
import { useRights } from '../../parts/session.ts';
import { formatSeconds } from '../../lib/duration.ts';
import { useNow } from '../../lib/useNow.ts';
import { visible } from '../../lib/visible.ts';
import { ExpectedEnd } from '../../parts/ExpectedEnd.tsx';
import { Flag } from '../../parts/Flag.tsx';
import { Icon } from '../../parts/icons.tsx';
import { JobLink } from '../../parts/JobName.tsx';
import { KillDialog } from '../../parts/KillDialog.tsx';
import { ProblemNotice } from '../../parts/ProblemNotice.tsx';
import { Waiting } from '../../parts/Waiting.tsx';
import { DaemonsOn } from './DaemonsOn.tsx';
import classes from './WorkersPage.module.css';

/** Current runs of a worker, with a button to kill each, and its daemons by job. */
export function RunsOn({ worker }: { worker: Worker }) {
  const { t, i18n } = useTranslation();
  const runs = useRunsOn(worker.id);
  const may = useRights();
  const now = useNow(1000);
  const [killing, setKilling] = useState<Run | undefined>();
  if (runs.error && !runs.data) return <ProblemNotice error={runs.error} onRetry={() => void runs.refetch()} />;
  if (!runs.data) return <Waiting rows={1} />;
  const others = runs.data.filter(({ cause }) => cause !== 'daemon');
  const daemons = Object.keys(worker.replicas ?? {}).length > 0;
  return (
    <>
      <DaemonsOn worker={worker} />
      {daemons && others.length > 0 && <h2 className={classes.part}>{t('workers.otherRuns')}</h2>}
      {!daemons && others.length === 0 && <p className={classes.calm}>{t('workers.runsNothing')}</p>}
      {others.length > 0 && (
        <ul className={classes.runs} aria-label={t('workers.runsOf', { name: visible(worker.name || worker.id) })}>
          {others.map((run) => (
            <li key={run.id} data-run={run.id}>
              <span className={classes.runText}>
                <JobLink job={run.job} title={run.jobTitle} run={run.id} className={classes.runName} />
                <span className="small dim nowrap">{t('workers.since', { time: formatSeconds(Math.max(0, Math.floor((now - Date.parse(run.startedAt ?? run.claimedAt ?? run.plannedAt)) / 1000)), i18n.language) })}</span>
                {run.slow && <Flag kind="slow" />}
                {run.expectedEndAt && <span className={classes.runEnd}><ExpectedEnd run={run} /></span>}
              </span>
              {may('operator', run.group ?? '') && (
                <Button size="compact-sm" variant="default" leftSection={<Icon name="stop" size={13} />} aria-label={t('workers.killRun', { job: visible(run.job) })} onClick={() => setKilling(run)}>{t('run.kill')}</Button>
              )}
            </li>
          ))}
        </ul>
      )}
      {killing && <KillDialog id={killing.id} job={killing.job} jobTitle={killing.jobTitle} onClose={() => setKilling(undefined)} />}
    </>
  );
}
