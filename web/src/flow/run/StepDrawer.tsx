import { useMemo } from 'react';
import { useTranslation } from 'react-i18next';
import { useJob } from '../../api/jobs.ts';
import { isTerminal, useAttempts } from '../../api/runs.ts';
import type { Run } from '../../api/types.ts';
import { fireOf } from '../../lib/jobPlace.ts';
import { formatTime } from '../../lib/time.ts';
import { visible } from '../../lib/visible.ts';
import { PlainLink } from '../../parts/PlainLink.tsx';
import { reasonText } from '../../parts/reasonText.ts';
import type { FlowGraph } from '../model/graph.ts';
import { attemptsOf, stateOf, type RunNode } from '../model/runNodes.ts';
import type { NodeStates } from '../model/state.ts';
import { stepsOf } from '../model/steps.ts';
import type { PendingApproval } from '../requests.ts';
import classes from './NodeDrawer.module.css';
import { NodeDrawer, type NodeAttempt, type NodeDrawerProps } from './NodeDrawer.tsx';
import { NodeLog } from './NodeLog.tsx';

interface Props extends Pick<NodeDrawerProps, 'onClose' | 'onApprove' | 'onReject' | 'barred' | 'onRerun' | 'onAccept' | 'onRetryItem' | 'onAcceptItem'> {
  run: Run;
  graph: FlowGraph;
  step: string;
  /** Index of the opened item of the step, which is a map. */
  item?: number | undefined;
  states: NodeStates;
  /** All nodes of the flow run. */
  nodes: readonly RunNode[];
  /** The approval of the step, while it waits. */
  approval: Pick<PendingApproval, 'text' | 'until'> | undefined;
  /** The drawer is on another page than that of the flow run, which it names. */
  elsewhere?: boolean | undefined;
}

/** A step of a flow run: its state, attempts, items, and output. */
export function StepDrawer({ run, graph, step, item, states, nodes, approval, elsewhere, ...acts }: Props) {
  const { t, i18n } = useTranslation();
  const node = nodes.find((one) => one.step === step && one.item === item);
  const items = useMemo(() => nodes.filter((one) => one.step === step && one.item !== undefined), [nodes, step]);
  const shown = useMemo(() => (item === undefined || !node ? states : new Map([...states, [step, stateOf(node, (reason) => reasonText(t, i18n.language, reason))]])), [states, step, item, node, t, i18n.language]);
  const definition = graph.steps[graph.index.get(step) ?? -1];
  // The graph of a stored definition has no commands.
  const job = useJob(run.job).data?.job;
  const written = useMemo(() => (job?.meta.version === run.jobVersion ? stepsOf(job?.steps).find(({ name }) => name === step) : undefined), [job, run.jobVersion, step]);
  const ran = node?.run !== undefined && (node.attempt ?? 0) > 0 && definition?.kind !== 'join' && definition?.kind !== 'wait' && !(definition?.kind === 'approval' && approval !== undefined);
  const known = useAttempts(fireOf(node?.run ?? ''), !isTerminal(run.status), ran).data;
  const attempts = ran ? attemptsOf(node).map((one): NodeAttempt => {
    const found = known?.find(({ id }) => id === one.run);
    return { ...one, status: found?.status, startedAt: found?.startedAt, endedAt: found?.endedAt };
  }) : [];
  const root = node?.reason?.data?.['root'];
  const acceptedBy = (of: number) => {
    const accepted = items.find((one) => one.item === of)?.accepted;
    return accepted && [t('nodeDrawer.accepted', { who: visible(accepted.by ?? '–'), at: formatTime(accepted.at, i18n.language) }), visible(accepted.note ?? '')].join(' ').trim();
  };
  const isNested = known?.some(({ digest }) => digest !== undefined) === true;
  return (
    <NodeDrawer
      {...acts} flowRun={elsewhere ? { id: run.id, plannedAt: run.plannedAt } : undefined} graph={graph} step={step} item={item === undefined ? undefined : { item, value: node?.value }} states={shown} question={approval?.text ?? node?.reason?.data?.['text']} note={definition?.kind === 'approval' ? node?.reason?.data?.['note'] : undefined} until={approval?.until} command={written?.command} from={node?.keptFrom} accepted={node?.accepted} root={root === undefined ? undefined : { step: root, href: `/runs/${encodeURIComponent(run.id)}?step=${encodeURIComponent(root)}` }} attempts={attempts} outputs={node?.outputs}
      values={items.map(({ value }) => value)} runOf={(of) => items.find((one) => one.item === of && (one.attempt ?? 0) > 0)?.run} itemAcceptedBy={acceptedBy}
      log={ran && node.run !== undefined && definition?.kind !== 'approval' && definition?.kind !== 'wait' && !node.hidden && known !== undefined && (isNested ? <Nested run={node.run} /> : <NodeLog key={node.run} run={node.run} />)}
    />
  );
}

/** A step whose job is a flow has no output of its own. */
function Nested({ run }: { run: string }) {
  const { t } = useTranslation();
  return <p className="small">{t('flowRun.nested')} <PlainLink className={classes.beside} href={`/runs/${encodeURIComponent(run)}`}>{t('flowRun.openNested')}</PlainLink></p>;
}
