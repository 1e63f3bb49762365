import { Link } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { useRun } from '../../api/runs.ts';
import type { Run } from '../../api/types.ts';
import { nodeOf } from '../../lib/jobPlace.ts';
import { visible } from '../../lib/visible.ts';
import { Filled, slot } from '../../parts/Filled.tsx';
import { StatusBadge } from '../../parts/StatusBadge.tsx';
import classes from './RunPage.module.css';

/** The flow run or backfill that a run belongs to. Nothing for other runs. */
export function Origin({ run: { flow, worker, workerName } }: { run: Run }) {
  const { t } = useTranslation();
  if (!flow) return null;
  if (flow.kind !== 'backfill') return <OfFlowRun flow={flow} worker={workerName ?? worker ?? ''} />;
  return (
    <p className={classes.around} data-origin={flow.kind}>
      <Filled text={t('flowRun.ofBackfill', { backfill: slot })}><Link to="/backfills/$id" params={{ id: flow.run }}>{t('flowRun.backfill')}</Link></Filled>
    </p>
  );
}

function OfFlowRun({ flow: { kind, run: id, job, node }, worker }: { flow: NonNullable<Run['flow']>; worker: string }) {
  const { t } = useTranslation();
  const run = useRun(id).data;
  const { step, item } = nodeOf(node);
  const link = <Link to="/runs/$id" params={{ id }} search={kind === 'spread' ? {} : { step }}>{t('flowRun.runOf', { flow: visible(run?.jobTitle ?? job) })}</Link>;
  return (
    <p className={classes.around} data-origin={kind}>
      <Filled text={kind === 'spread' ? t('flowRun.onWorker', { worker: visible(worker), run: slot }) : item === undefined ? t('flowRun.stepOf', { step, run: slot }) : t('flowRun.itemOf', { step, item, run: slot })}>{link}</Filled>{' '}
      {run && <StatusBadge status={run.status} />}
    </p>
  );
}
