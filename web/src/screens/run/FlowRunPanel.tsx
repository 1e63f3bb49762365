import { SegmentedControl } from '@mantine/core';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { useMemo, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { useApprovals, useDefinitionGraph, useRunNodes } from '../../api/flowRuns.ts';
import { isTerminal } from '../../api/runs.ts';
import type { Job, Run } from '../../api/types.ts';
import { FlowView } from '../../flow/FlowView.tsx';
import { graphOf } from '../../flow/model/graph.ts';
import { statesOf, type RunNode } from '../../flow/model/runNodes.ts';
import { stepsOf } from '../../flow/model/steps.ts';
import { writtenOf } from '../../flow/model/written.ts';
import ApprovalAnswers from '../../flow/run/ApprovalAnswers.tsx';
import { FlowTimeline } from '../../flow/run/FlowTimeline.tsx';
import { NodeTable } from '../../flow/run/NodeTable.tsx';
import { pendingOf, whyNot } from '../../flow/run/pending.ts';
import { useDecision } from '../../flow/run/useDecision.tsx';
import type { FlowRunSearch } from '../../lib/searchParams.ts';
import { useNow } from '../../lib/useNow.ts';
import { Panel } from '../../parts/Panel.tsx';
import { ProblemNotice } from '../../parts/ProblemNotice.tsx';
import { reasonText } from '../../parts/reasonText.ts';
import { useCan } from '../../parts/session.ts';
import { Waiting } from '../../parts/Waiting.tsx';
import classes from './FlowRunPanel.module.css';
import { RerunFlow, useRerunnable, type RerunAsked } from './RerunFlow.tsx';
import { StepDrawer } from './StepDrawer.tsx';

/** The steps of a flow run: as a graph, a table or a timeline, with one of them opened beside; above, its approvals that wait. */
export function FlowRunPanel({ run }: { run: Run }) {
  const { t, i18n } = useTranslation();
  const { steps: view, step } = useSearch({ from: '/runs/$id' });
  const navigate = useNavigate();
  const live = !isTerminal(run.status);
  const nodes = useRunNodes(run.id, live);
  const mayRun = useCan('operator', run.group ?? '');
  const now = useNow(1000, live && view === 'timeline');
  const { decide, dialog } = useDecision();
  const job = useRerunnable(run);
  const [rerun, setRerun] = useState<RerunAsked>();

  // The graph is that of the definition which the run started with; it may no longer be known.
  const known = useDefinitionGraph(run.job, run.digest);
  const items = nodes.data?.items;
  const drawn = useMemo(() => known.data && graphOf(writtenOf(known.data)), [known.data]);
  const bare = useMemo(() => graphOf(stepsOf((items ?? []).filter(({ item }) => item === undefined).map(({ step: name, title }) => ({ name, title })))), [items]);
  const graph = drawn ?? bare;
  const states = useMemo(() => statesOf(items ?? [], (reason) => reasonText(t, i18n.language, reason)), [items, t, i18n.language]);

  const show = (next: FlowRunSearch) => void navigate({ to: '/runs/$id', params: { id: run.id }, search: next, replace: true, resetScroll: false });
  const open = (next: string | undefined) => show({ ...(view && { steps: view }), ...(next !== undefined && { step: next }) });
  const ways = known.data || known.isPending ? (['graph', 'table', 'timeline'] as const) : (['table', 'timeline'] as const);
  const way = ways.find((one) => one === view) ?? ways[0];
  const approvals = useApprovals(run.job, live).data?.items.filter((one) => live && one.run === run.id) ?? [];
  const asked = approvals.find((one) => one.step === step);
  const answer = asked?.mayAnswer ? (decision: 'approve' | 'reject') => () => decide(pendingOf(asked), decision) : undefined;
  const opened = items?.find((node) => node.step === step && node.item === undefined);
  const again = mayRun && job && opened ? againOf(job, opened, live) : undefined;
  const accept = mayRun && live && job && opened ? acceptOf(job, opened) : undefined;
  const actOnItem = (asks: (job: Job, node: RunNode) => RerunAsked | undefined) => (item: number) => {
    const node = live && mayRun ? items?.find((one) => one.step === step && one.item === item) : undefined;
    const act = job && node && asks(job, node);
    return act && (() => setRerun(act));
  };
  const drawer = (close: () => void) => step !== undefined && (
    <StepDrawer
      run={run} graph={graph} step={step} states={states} nodes={items ?? []} approval={asked && { text: asked.text, until: asked.deadline }} onClose={close}
      onApprove={answer?.('approve')} onReject={answer?.('reject')} barred={asked && whyNot(t, pendingOf(asked))} onRerun={again && (() => setRerun(again))} onAccept={accept && (() => setRerun(accept))} onRetryItem={actOnItem((of, node) => againOf(of, node, live))} onAcceptItem={actOnItem(acceptOf)}
    />
  );
  const name = t('flow.graphOf', { name: run.jobTitle ?? run.job });
  return (
    <>
      <ApprovalAnswers approvals={approvals} />
      <Panel
        title={t('flowRun.title')}
        side={<SegmentedControl size="xs" aria-label={t('flowRun.views')} value={way} data={ways.map((value) => ({ value, label: t(`flowRun.${value}`) }))} onChange={(next) => show({ ...(next !== 'graph' && { steps: next as 'table' }), ...(step !== undefined && { step }) })} />}
      >
        {nodes.error && !nodes.data && <ProblemNotice error={nodes.error} onRetry={() => void nodes.refetch()} />}
        {!nodes.error && (!nodes.data || (way === 'graph' && known.isPending)) && <Waiting rows={4} />}
        {nodes.data && known.isError && <p className="small dim">{t('flowRun.otherDefinition')}</p>}
        {nodes.data && way === 'graph' && drawn && <FlowView graph={graph} states={states} label={name} step={step} onStep={open}>{drawer}</FlowView>}
        {nodes.data && way === 'table' && <NodeTable label={t('flowRun.title')} states={states} onOpen={open} />}
        {nodes.data && way === 'timeline' && <FlowTimeline label={t('flowRun.timeline')} states={states} graph={graph} now={now} onOpen={open} />}
        {nodes.data && way !== 'graph' && step !== undefined && graph.index.has(step) && <div className={classes.below}>{drawer(() => open(undefined))}</div>}
      </Panel>
      {dialog}
      {rerun && <RerunFlow run={run} asked={rerun} onClose={() => setRerun(undefined)} />}
    </>
  );
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
