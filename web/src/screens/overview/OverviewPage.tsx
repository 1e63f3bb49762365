import { lazy, useMemo } from 'react';
import { useTranslation } from 'react-i18next';
import { useApprovals } from '../../api/flowRuns.ts';
import { useNextHour, useOverview, useRunning, useTroubles, useWaiting } from '../../api/overview.ts';
import { useWorkers } from '../../api/workers.ts';
import { firesIn } from '../../lib/figures.ts';
import { attentionOf, isOpen, troublesOf, troubleStatuses } from '../../lib/troubles.ts';
import { loadOf } from '../../lib/workerState.ts';
import { modesOf } from '../../parts/conditions.ts';
import { LazyPart } from '../../parts/LazyPart.tsx';
import { PageHead } from '../../parts/PageHead.tsx';
import { ProblemNotice } from '../../parts/ProblemNotice.tsx';
import { Waiting } from '../../parts/Waiting.tsx';
import { ClusterPanel } from './ClusterPanel.tsx';
import { FirstSteps } from './FirstSteps.tsx';
import classes from './OverviewPage.module.css';
import { RunningPanel } from './RunningPanel.tsx';
import { SoonPanel } from './SoonPanel.tsx';
import { Standstill, standsStill } from './Standstill.tsx';
import { Tiles } from './Tiles.tsx';
import { TrendPanel } from './TrendPanel.tsx';
import { TroublesPanel } from './TroublesPanel.tsx';
import { Verdict } from './Verdict.tsx';
import { WaitingPanel } from './WaitingPanel.tsx';
import { WorkersPanel } from './WorkersPanel.tsx';

// Few clusters have approvals, and then not always.
const Approvals = lazy(() => import('../../flow/run/ApprovalAnswers.tsx'));

/** The state of the cluster for on-call staff: running and waiting fires with reasons, problems, upcoming fires. */
export function OverviewPage() {
  const { t } = useTranslation();
  const overview = useOverview();
  const found = useTroubles();
  const ahead = useNextHour();
  const waits = useWaiting();
  const running = useRunning().data;
  const approvals = useApprovals().data?.items;
  const more = found.data?.nextCursor !== undefined;
  const troubles = useMemo(() => troublesOf(found.data?.items.filter(isOpen) ?? []), [found.data]);
  const { acknowledged } = useMemo(() => attentionOf(found.data?.items ?? [], troubleStatuses), [found.data]);
  const { data } = overview;
  // The lists are newer than the counts, and are used as far as they go.
  const runs = running && running.nextCursor === undefined && !running.partial ? running.items.length : data?.running;
  const workers = useWorkers().data?.items;
  const waiting = waits.data && waits.data.nextCursor === undefined ? firesIn(waits.data.items) : data?.waiting;
  const first = data?.jobs.total === 0;
  // Without the history the number of failures is unknown, which is not zero.
  const whole = found.data !== undefined && found.data.partial !== true ? found.data : undefined;
  const modes = modesOf(data?.degraded ?? []);

  return (
    <>
      <PageHead title={t('overview.title')} name={t('overview.title')}>
        {data && workers && !first && <Standstill workers={workers} waiting={waiting} />}
        {data && found.data && !first && (
          <Verdict troubles={troubles.length} more={more} acknowledged={acknowledged} degraded={modes.length} grave={modes.some((mode) => mode.grave)} unsure={found.data.partial === true || workers === undefined || standsStill(workers)} />
        )}
      </PageHead>
      {overview.error && !data && <ProblemNotice error={overview.error} onRetry={() => void overview.refetch()} />}
      {!data && !overview.error && <Waiting rows={8} />}
      {data && first && <FirstSteps alive={data.workers.alive} />}
      {data && (!first || (data.running ?? 0) > 0) && (
        <>
          <Tiles
            overview={data} load={workers ? loadOf(workers) : data.workers} running={runs} soon={ahead.data?.total} waiting={waiting}
            troubles={whole && !more ? whole.items : undefined} many={more}
          />
          <div className={classes.columns}>
            <div className={classes.stack}>
              {approvals && approvals.length > 0 && <LazyPart onClose={() => undefined}><Approvals approvals={approvals} /></LazyPart>}
              <RunningPanel count={runs} />
              <WaitingPanel paused={data.waitingPaused} />
              {found.error && !found.data ? <ProblemNotice error={found.error} onRetry={() => void found.refetch()} /> : <TroublesPanel troubles={troubles} acknowledged={acknowledged} partial={found.data?.partial === true} />}
            </div>
            <div className={classes.stack}>
              <SoonPanel ahead={ahead.data} />
              <WorkersPanel />
              <ClusterPanel overview={data} />
            </div>
          </div>
          <TrendPanel away={data.logStore === 'away'} />
        </>
      )}
    </>
  );
}
