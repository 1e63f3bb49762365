import { Alert, Button } from '@mantine/core';
import { Link, useParams } from '@tanstack/react-router';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { useJob } from '../../api/jobs.ts';
import { Problem } from '../../api/problem.ts';
import { isTerminal, useKillRun, useRun } from '../../api/runs.ts';
import type { Run } from '../../api/types.ts';
import { useCan } from '../../app/session.ts';
import { visible } from '../../lib/visible.ts';
import { ConfirmDialog } from '../../parts/ConfirmDialog.tsx';
import { EmptyPage } from '../../parts/EmptyPage.tsx';
import { ExpectedEnd } from '../../parts/ExpectedEnd.tsx';
import { Flag } from '../../parts/Flag.tsx';
import { Facts } from '../../parts/Facts.tsx';
import { Icon } from '../../parts/icons.tsx';
import { PageHead } from '../../parts/PageHead.tsx';
import { ProblemNotice } from '../../parts/ProblemNotice.tsx';
import { RunButton } from '../../parts/RunButton.tsx';
import { say } from '../../parts/say.ts';
import { StatusBadge } from '../../parts/StatusBadge.tsx';
import { TimeText } from '../../parts/TimeText.tsx';
import { Waiting } from '../../parts/Waiting.tsx';
import { Why } from '../../parts/Why.tsx';
import { AttemptsPanel } from './AttemptsPanel.tsx';
import { OutputPanel } from './OutputPanel.tsx';
import { RunFacts } from './RunFacts.tsx';
import classes from './RunPage.module.css';
import { Timeline } from './Timeline.tsx';

export function RunPage() {
  const { t } = useTranslation();
  const { id } = useParams({ from: '/runs/$id' });
  const run = useRun(id);
  if (run.error instanceof Problem && (run.error.status === 404 || run.error.status === 422)) {
    return (
      <EmptyPage icon="question" title={t('run.notFound')}>
        <Link to="/runs">{t('run.allRuns')}</Link>
      </EmptyPage>
    );
  }
  if (run.error && !run.data) return <ProblemNotice error={run.error} onRetry={() => void run.refetch()} />;
  if (!run.data) return <Waiting rows={8} />;
  return <RunView run={run.data} />;
}

function RunView({ run }: { run: Run }) {
  const { t } = useTranslation();
  return (
    <>
      <PageHead
        name={`${run.job} · ${t(`status.${run.status}`)}`}
        title={
          <span className={classes.title}>
            <span>
              {t('run.title')} <Link to="/jobs/$name" params={{ name: run.job }}>{run.job}</Link>
            </span>
            <StatusBadge status={run.status} />
            {run.late && <Flag kind="late" />}
            {run.slow && <Flag kind="slow" />}
          </span>
        }
      >
        <Acts run={run} />
      </PageHead>
      {run.status === 'waiting' && <WaitingNotice run={run} />}
      {run.orphaned && <LateEndNotice late={run.orphaned} />}
      <Timeline run={run} />
      <ExpectedEnd run={run} />
      <div className={classes.columns}>
        <OutputPanel run={run} />
        <div className={classes.stack}>
          <RunFacts run={run} />
          <AttemptsPanel run={run} />
        </div>
      </div>
    </>
  );
}

/** Why the run has not started yet, and when it may. */
function WaitingNotice({ run }: { run: Run }) {
  const { t } = useTranslation();
  if (!run.reason && !run.dueAt) return null;
  return (
    <Alert color="yellow" variant="light" icon={<Icon name="clock" />} title={t('run.waits')}>
      {run.reason && <div className="break"><Why reason={run.reason} /></div>}
      {run.dueAt && <div>{t('run.dueAt')} <TimeText at={run.dueAt} /></div>}
    </Alert>
  );
}

/** How a run that was written down as lost ended on its worker all the same. */
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

/** Runs the job once more with what this run was given; nothing where the job is gone. */
function RunAgain({ run }: { run: Run }) {
  const job = useJob(run.job);
  return job.data && <RunButton job={job.data.job} given={run.params} variant="default" />;
}

function Acts({ run }: { run: Run }) {
  const { t } = useTranslation();
  const mayRun = useCan('operator', run.group ?? '');
  const kill = useKillRun();
  const [asking, setAsking] = useState(false);
  if (!mayRun) return null;
  const confirm = () =>
    kill.mutate(run.id, {
      onSuccess: () => {
        setAsking(false);
        say(t, t('run.killSent'));
      },
    });
  return (
    <>
      {isTerminal(run.status) ? (
        <RunAgain run={run} />
      ) : (
        <Button color="red" leftSection={<Icon name="stop" size={16} />} onClick={() => setAsking(true)}>{t('run.kill')}</Button>
      )}
      {asking && (
        <ConfirmDialog
          title={t('run.killTitle')} confirm={t('run.killConfirm')} busy={kill.isPending} error={kill.error} onConfirm={confirm}
          onCancel={() => {
            setAsking(false);
            kill.reset();
          }}
        >
          {t('run.killText')}
        </ConfirmDialog>
      )}
    </>
  );
}
