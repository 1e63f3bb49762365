import { ActionIcon, Alert, Button } from '@mantine/core';
import { Link, Navigate, useParams } from '@tanstack/react-router';
import { useState, type ComponentProps } from 'react';
import { useTranslation } from 'react-i18next';
import { useOpenCleanUp } from '../../api/flowRuns.ts';
import { Problem } from '../../api/problem.ts';
import { isTerminal, useAttempts, useNeighbours, useRun } from '../../api/runs.ts';
import type { Run } from '../../api/types.ts';
import { isBackfill } from '../../lib/jobPlace.ts';
import { isOfNode, RerunButton, RerunOuter } from '../../flow/run/RerunFlow.tsx';
import { labelled, listed } from '../../lib/lists.ts';
import { formatTime } from '../../lib/time.ts';
import { isTrouble } from '../../lib/troubles.ts';
import { useTrueFor } from '../../lib/useTrueFor.ts';
import { visible } from '../../lib/visible.ts';
import { AckMark } from '../../parts/AckMark.tsx';
import { EmptyPage } from '../../parts/EmptyPage.tsx';
import { EndingText, ForcedText } from '../../parts/EndingText.tsx';
import { Facts } from '../../parts/Facts.tsx';
import { FailureDialog } from '../../parts/FailureDialog.tsx';
import { Filled, slot } from '../../parts/Filled.tsx';
import { Flag } from '../../parts/Flag.tsx';
import { Icon } from '../../parts/icons.tsx';
import { JobLink } from '../../parts/JobName.tsx';
import { KillDialog } from '../../parts/KillDialog.tsx';
import { PageHead } from '../../parts/PageHead.tsx';
import { ProblemNotice } from '../../parts/ProblemNotice.tsx';
import { useCan } from '../../parts/session.ts';
import { lastAttemptOf, repeatedText } from '../../parts/Repeated.tsx';
import { StatusBadge } from '../../parts/StatusBadge.tsx';
import { TimeText } from '../../parts/TimeText.tsx';
import { Waiting } from '../../parts/Waiting.tsx';
import { Around } from './Around.tsx';
import { AttemptsBar } from './AttemptsBar.tsx';
import { FlowRunPanel } from './FlowRunPanel.tsx';
import { Origin } from './Origin.tsx';
import { hasOutcome, Outcome } from './Outcome.tsx';
import { OutputPanel } from './OutputPanel.tsx';
import { isPaused, PauseFlowRun } from './PauseFlowRun.tsx';
import { ResourcesPanel } from './ResourcesPanel.tsx';
import { RunAgain } from './RunAgain.tsx';
import { Runbook } from './Runbook.tsx';
import { RunFacts } from './RunFacts.tsx';
import classes from './RunPage.module.css';
import { Timeline } from './Timeline.tsx';
import { WorkersPanel } from './WorkersPanel.tsx';

export function RunPage() {
  const { t } = useTranslation();
  const { id } = useParams({ from: '/runs/$id' });
  const run = useRun(id);
  if (run.error instanceof Problem && (run.error.status === 404 || run.error.status === 422)) {
    return (
      <EmptyPage whole icon="question" title={t('run.notFound')}>
        <Link to="/runs">{t('run.allRuns')}</Link>
      </EmptyPage>
    );
  }
  if (run.error && !run.data) return <ProblemNotice error={run.error} onRetry={() => void run.refetch()} />;
  if (!run.data) return <Waiting rows={8} />;
  // The outcome of a backfill has a page of its own, for those who may see its dates.
  if (isBackfill(run.data) && !run.data.hidden) return <Navigate to="/backfills/$id" params={{ id }} replace />;
  // Open dialogs, typed text and scroll positions belong to one run.
  return <RunView key={run.data.id} run={run.data} />;
}

function RunView({ run }: { run: Run }) {
  const { t, i18n } = useTranslation();
  const attempts = useAttempts(run.fire, !isTerminal(run.status));
  const last = isTrouble(run.status) ? lastAttemptOf(run, attempts.data) : undefined;
  const mayRun = useCan('operator', run.group ?? '');
  // The button to run it again is beside the failure.
  const troubled = hasOutcome(run) && isTrouble(run.status);
  const endedBefore = useTrueFor(isTerminal(run.status), 2000);
  const isFlowRun = run.digest !== undefined && run.claimedAt !== undefined; // an attempt that was cancelled before has no nodes
  return (
    <>
      <PageHead
        name={[visible(run.jobTitle ?? run.job), t(`status.${run.status}`), ...(last ? [repeatedText(t, i18n.language, last)] : [])].join(' · ')}
        title={
          <>
            <span className={classes.title}>
              <span>
                <Filled text={t('run.title', { job: slot })}><JobLink job={run.job} title={run.jobTitle} /></Filled>
              </span>
              <StatusBadge status={run.status} />
              {run.late && <Flag kind="late" />}
              {run.slow && <Flag kind="slow" />}
            </span>
            {run.jobTitle && <span className={classes.name}>{run.job}</span>}
          </>
        }
      >
        <Neighbours run={run} />
        {mayRun && <Acts run={run} again={!troubled} />}
      </PageHead>
      <Origin run={run} />
      <AttemptsBar run={run} />
      {run.orphaned && <LateEndNotice late={run.orphaned} />}
      {run.ending && <Alert color="yellow" variant="light" icon={<Icon name="clock" />}><EndingText ending={run.ending} /></Alert>}
      {run.forced && <Alert color="yellow" variant="light" icon={<Icon name="warn" />}><ForcedText forced={run.forced} /></Alert>}
      {run.hidden && <Alert color="gray" variant="light" icon={<Icon name="key" />}>{t('run.hiddenText')}</Alert>}
      {run.acknowledged && <Acknowledged run={run} acknowledged={run.acknowledged} />}
      <Outcome run={run} last={last} acts={troubled && mayRun && <><Again run={run} disabled={!endedBefore} variant={last ? 'default' : 'filled'} /><Acknowledge run={run} /></>} />
      {isPaused(run) && <Alert color="yellow" variant="light" icon={<Icon name="pause" />}>{t('flowRun.paused')}</Alert>}
      {/* A flow run has no output of its own: its steps have. */}
      {isFlowRun && (run.spread ? <WorkersPanel run={run} /> : <FlowRunPanel run={run} />)}
      <Runbook run={run} />
      <Timeline run={run} />
      <Around run={run} />
      {isFlowRun ? <RunFacts run={run} /> : <div className={classes.columns}><OutputPanel run={run} /><RunFacts run={run} /></div>}
      {!isFlowRun && <ResourcesPanel run={run} />}
    </>
  );
}

/** Links to the previous and next run of the job. */
function Neighbours({ run }: { run: Run }) {
  const { t, i18n } = useTranslation();
  const { previous, next } = useNeighbours(run).data ?? {};
  const way = (to: Run | undefined, name: string, icon: 'left' | 'right') => (
    <ActionIcon
      variant="default" size={36} aria-label={name} title={to ? labelled(name, listed([t(`status.${to.status}`), formatTime(to.plannedAt, i18n.language)], i18n.language), i18n.language) : name} disabled={!to}
      renderRoot={to && ((props) => <Link to="/runs/$id" params={{ id: to.id }} search={{}} {...props} />)}
    >
      <Icon name={icon} size={16} />
    </ActionIcon>
  );
  return (
    <span className={classes.ways}>
      {way(previous, t('run.previousRun'), 'left')}
      {way(next, t('run.nextRun'), 'right')}
    </span>
  );
}

/** The late end of a run that was recorded as lost. */
function LateEndNotice({ late }: { late: NonNullable<Run['orphaned']> }) {
  const { t } = useTranslation();
  return (
    <Alert color="yellow" variant="light" icon={<Icon name="warn" />} title={t('run.lateTitle')} data-late="">
      <div className="break">{t('run.lateText', { worker: visible(late.workerName ?? late.worker), status: t(`status.${late.status}`) })}</div>
      <Facts
        entries={[
          [t('run.ended'), late.endedAt && <TimeText at={late.endedAt} />],
          [t('run.exitCode'), late.exitCode !== undefined && String(late.exitCode)],
          [t('run.signal'), late.signal],
        ]}
      />
    </Alert>
  );
}

function Acknowledged({ run, acknowledged }: { run: Run; acknowledged: NonNullable<Run['acknowledged']> }) {
  const mayUndo = useCan('operator', run.group ?? '');
  return <AckMark acknowledged={acknowledged} fire={run.fire} mayUndo={mayUndo} />;
}

/** Acknowledges a failure; only the last attempt of a fire can be. */
function Acknowledge({ run }: { run: Run }) {
  const { t } = useTranslation();
  const [asking, setAsking] = useState(false);
  const last = useAttempts(run.fire, false).data?.at(-1);
  if (!isTrouble(run.status) || run.acknowledged || (last !== undefined && last.attempt > run.attempt)) return null;
  return (
    <>
      <Button variant="default" leftSection={<Icon name="check" size={16} />} onClick={() => setAsking(true)}>{t('failures.ack.verb')}</Button>
      {asking && <FailureDialog act="ack" fires={[{ id: run.fire, job: run.job, jobTitle: run.jobTitle, attempts: [run.id] }]} onClose={() => setAsking(false)} />}
    </>
  );
}

/** Runs the fire of a run again; that of a flow run whole or in part, that of a node through its flow run. */
function Again(props: ComponentProps<typeof RunAgain>) {
  if (isOfNode(props.run)) return <RerunOuter {...props} />;
  return props.run.digest === undefined ? <RunAgain {...props} /> : <RerunButton {...props} />;
}

function Acts({ run, again }: { run: Run; again: boolean }) {
  const { t } = useTranslation();
  const [asking, setAsking] = useState(false);
  const ended = isTerminal(run.status);
  // The button to run it again replaces the kill button: a user who is about to kill must not start it again.
  const endedBefore = useTrueFor(ended, 2000);
  const waits = run.status === 'waiting';
  const cleanUp = useOpenCleanUp(run);
  return (
    <>
      {again && <Acknowledge run={run} />}
      {run.digest !== undefined && run.status === 'running' && !run.ending && <PauseFlowRun run={run} />}
      {ended
        ? again && <Again run={run} disabled={!endedBefore} />
        : <Button color="red" leftSection={<Icon name="stop" size={16} />} onClick={() => setAsking(true)}>{t(cleanUp ? 'kill.cleanUpOpen' : waits ? 'kill.cancel' : 'run.kill')}</Button>}
      {asking && <KillDialog id={run.id} job={run.job} jobTitle={run.jobTitle} waits={waits} onClose={() => setAsking(false)} />}
    </>
  );
}
