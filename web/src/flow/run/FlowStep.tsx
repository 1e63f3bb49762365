import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { useApprovals } from '../../api/flowRuns.ts';
import { isTerminal, useRun } from '../../api/runs.ts';
import type { Job, Run } from '../../api/types.ts';
import { nodeOf } from '../../lib/jobPlace.ts';
import { ProblemNotice } from '../../parts/ProblemNotice.tsx';
import { useCan } from '../../parts/session.ts';
import { Waiting } from '../../parts/Waiting.tsx';
import type { FlowGraph } from '../model/graph.ts';
import type { RunNode } from '../model/runNodes.ts';
import type { NodeStates } from '../model/state.ts';
import { pendingOf, whyNot } from './pending.ts';
import { RerunFlow, useRerunnable, type RerunAsked } from './RerunFlow.tsx';
import { StepDrawer } from './StepDrawer.tsx';
import { useDecision } from './useDecision.tsx';
import { useFlowRun } from './useFlowRun.ts';

interface Props {
  run: Run;
  graph: FlowGraph;
  step: string;
  /** Index of the opened item of the step, which is a map. */
  item?: number | undefined;
  states: NodeStates;
  /** All nodes of the flow run. */
  nodes: readonly RunNode[];
  /** The drawer is on another page than that of the flow run, which it names. */
  elsewhere?: boolean;
  onClose: () => void;
}

/** A step of a flow run, with all that the user may do about it. */
export function FlowStep({ run, step, item, nodes, ...props }: Props) {
  const { t } = useTranslation();
  const live = !isTerminal(run.status);
  const mayRun = useCan('operator', run.group ?? '');
  const { decide, dialog } = useDecision();
  const job = useRerunnable(run);
  const [rerun, setRerun] = useState<RerunAsked>();
  const asked = useApprovals(run.job, live).data?.items.find((one) => live && item === undefined && one.run === run.id && one.step === step);
  const answer = asked?.mayAnswer ? (decision: 'approve' | 'reject') => () => decide(pendingOf(asked), decision) : undefined;
  const opened = nodes.find((node) => node.step === step && node.item === item);
  const again = mayRun && job && opened ? againOf(job, opened, live) : undefined;
  const accept = mayRun && live && job && opened ? acceptOf(job, opened) : undefined;
  const actOnItem = (asks: (job: Job, node: RunNode) => RerunAsked | undefined) => (of: number) => {
    const node = live && mayRun ? nodes.find((one) => one.step === step && one.item === of) : undefined;
    const act = job && node && asks(job, node);
    return act && (() => setRerun(act));
  };
  // The dialogs are outside of the drawer: keys that are pressed in them would reach it.
  return (
    <>
      <StepDrawer
        {...props} run={run} step={step} item={item} nodes={nodes} approval={asked && { text: asked.text, until: asked.deadline }}
        onApprove={answer?.('approve')} onReject={answer?.('reject')} barred={asked && whyNot(t, pendingOf(asked))} onRerun={again && (() => setRerun(again))} onAccept={accept && (() => setRerun(accept))} onRetryItem={actOnItem((of, node) => againOf(of, node, live))} onAcceptItem={actOnItem(acceptOf)}
      />
      {dialog}
      {rerun && <RerunFlow run={run} asked={rerun} onClose={() => setRerun(undefined)} />}
    </>
  );
}

interface LoadedProps extends Pick<Props, 'onClose'> {
  /** Id of the flow run. */
  id: string;
  /** Name of the node: of a step, or of an item of a map. */
  node: string;
}

/** A step of a flow run that is yet to be loaded, or an item of a map. */
export function LoadedStep({ id, node, onClose }: LoadedProps) {
  const run = useRun(id);
  if (run.error && !run.data) return <ProblemNotice error={run.error} onRetry={() => void run.refetch()} />;
  return run.data ? <OfRun run={run.data} {...nodeOf(node)} onClose={onClose} /> : <Waiting rows={4} />;
}

function OfRun({ run, ...props }: Pick<Props, 'run' | 'step' | 'item' | 'onClose'>) {
  const { nodes, known, graph, states } = useFlowRun(run);
  if (nodes.error && !nodes.data) return <ProblemNotice error={nodes.error} onRetry={() => void nodes.refetch()} />;
  if (!nodes.data || known.isPending) return <Waiting rows={4} />;
  return <FlowStep {...props} run={run} graph={graph} states={states} nodes={nodes.data.items} elsewhere />;
}

/** Returns the re-run that begins with a step: in a flow run that has not ended, only a failed node can be started again. */
function againOf(job: Job, { node, step, class: counts, attempt = 0 }: RunNode, live: boolean): RerunAsked | undefined {
  if (!live) return { job, scope: 'from', steps: [step] };
  return counts === 'failure' && attempt > 0 ? { job, node } : undefined;
}

/** Returns the request to accept the failure of a node of a flow run that has not ended; an approval is answered again, and no step waits for a clean-up step. */
function acceptOf(job: Job, { node, step, class: counts, kind, attempt = 0 }: RunNode): RerunAsked | undefined {
  const cleanUp = job.steps?.find(({ name }) => name === step)?.finally === true;
  return counts === 'failure' && attempt > 0 && kind !== 'approval' && !cleanUp ? { job, node, accepts: true } : undefined;
}
