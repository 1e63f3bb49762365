import { Link } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import type { Run } from '../api/types.ts';
import { nodeOf } from '../lib/jobPlace.ts';

/** Links the run of a node to its flow run, at its step. Nothing for other runs. */
export function FlowRunLink({ run: { flow } }: { run: Pick<Run, 'flow'> }) {
  const { t } = useTranslation();
  if (flow?.kind !== 'flow') return null;
  const { step } = nodeOf(flow.node);
  return <div className="small"><Link to="/runs/$id" params={{ id: flow.run }} search={{ step }} data-flow-run={flow.run}>{t('runs.flowRun', { step })}</Link></div>;
}
