import { Button } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { useReplicas, useRestartJob } from '../../api/replicas.ts';
import type { Job } from '../../api/types.ts';
import { visible } from '../../lib/visible.ts';
import { Icon } from '../../parts/icons.tsx';
import { Panel } from '../../parts/Panel.tsx';
import { PlainText } from '../../parts/PlainText.tsx';
import { ProblemNotice } from '../../parts/ProblemNotice.tsx';
import { zoneOf } from '../../parts/scheduleText.ts';
import { StatusBadge } from '../../parts/StatusBadge.tsx';
import { RelativeTime } from '../../parts/TimeText.tsx';
import { Waiting } from '../../parts/Waiting.tsx';
import { Why } from '../../parts/Why.tsx';
import classes from './StatisticsPanel.module.css';

/** The replicas of a daemon job: where each one runs, or why it waits. */
export function ReplicasPanel({ job, mayRestart }: { job: Job; mayRestart: boolean }) {
  const { t } = useTranslation();
  const replicas = useReplicas(job.name);
  const restart = useRestartJob();
  const { wanted, running, items, handover } = replicas.data ?? {};
  return (
    <Panel title={t('replicas.title')} help={t('replicas.help')}>
      {replicas.error && !replicas.data && <ProblemNotice error={replicas.error} onRetry={() => void replicas.refetch()} />}
      {!replicas.error && !replicas.data && <Waiting rows={3} />}
      {items && (
        <>
          <p data-replicas="">{wanted === 'all' ? t('replicas.runningOnAll', { count: running }) : t('replicas.running', { running, count: Number(wanted ?? 0) })}</p>
          {handover && (
            <p className="small" data-handover={handover.reason}>
              {t('replicas.handover', { replica: visible(handover.replica), worker: visible(handover.workerName ?? handover.worker), reason: t(`replicas.moves.${handover.reason}`) })} <span className="dim"><RelativeTime at={handover.since} zone={zoneOf(job)} /></span>
            </p>
          )}
          {items.length > 0 && (
            <div className={classes.scroll} tabIndex={0} role="region" aria-label={t('replicas.table')}>
              <table className={classes.table}>
                <thead>
                  <tr>
                    <th scope="col">{t('replicas.replica')}</th>
                    <th scope="col">{t('replicas.status')}</th>
                    <th scope="col">{t('runs.worker')}</th>
                    <th scope="col">{t('replicas.since')}</th>
                  </tr>
                </thead>
                <tbody>
                  {items.map(({ replica, status, run, worker, workerName, since, reason, restarts }) => (
                    <tr key={replica}>
                      <th scope="row"><PlainText>{replica}</PlainText></th>
                      <td>{status === 'running' ? <Link to="/runs/$id" params={{ id: run }}><StatusBadge status={status} /></Link> : <StatusBadge status={status} />}{reason && <div className="small break"><Why reason={reason} /></div>}{restarts !== undefined && restarts > 0 && <div className="small dim" data-restarts={restarts}>{t('replicas.shortRuns', { count: restarts })}</div>}</td>
                      <td><PlainText>{workerName ?? worker ?? '–'}</PlainText></td>
                      <td><RelativeTime at={since} zone={zoneOf(job)} /></td>
                    </tr>
                  ))}
                </tbody>
              </table>
            </div>
          )}
          {restart.error && <ProblemNotice error={restart.error} />}
          {mayRestart && !job.meta.paused && (
            <Button mt="sm" variant="default" leftSection={<Icon name="refresh" size={16} />} loading={restart.isPending} onClick={() => restart.mutate(job.name)}>{t('replicas.restart')}</Button>
          )}
        </>
      )}
    </Panel>
  );
}
