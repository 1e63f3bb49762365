import { SegmentedControl } from '@mantine/core';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { useApprovals } from '../../api/flowRuns.ts';
import { isTerminal } from '../../api/runs.ts';
import type { Run } from '../../api/types.ts';
import { FlowView } from '../../flow/FlowView.tsx';
import ApprovalAnswers from '../../flow/run/ApprovalAnswers.tsx';
import { FlowStep } from '../../flow/run/FlowStep.tsx';
import { FlowTimeline } from '../../flow/run/FlowTimeline.tsx';
import { NodeTable } from '../../flow/run/NodeTable.tsx';
import { useFlowRun } from '../../flow/run/useFlowRun.ts';
import type { FlowRunSearch } from '../../lib/searchParams.ts';
import { useNow } from '../../lib/useNow.ts';
import { Panel } from '../../parts/Panel.tsx';
import { ProblemNotice } from '../../parts/ProblemNotice.tsx';
import { Waiting } from '../../parts/Waiting.tsx';
import classes from './FlowRunPanel.module.css';

/** The steps of a flow run: as a graph, a table or a timeline, with one of them opened beside; above, its approvals that wait. */
export function FlowRunPanel({ run }: { run: Run }) {
  const { t } = useTranslation();
  const { steps: view, step } = useSearch({ from: '/runs/$id' });
  const navigate = useNavigate();
  const live = !isTerminal(run.status);
  const now = useNow(1000, live && view === 'timeline');
  const { nodes, known, drawn, graph, states } = useFlowRun(run);

  const show = (next: FlowRunSearch) => void navigate({ to: '/runs/$id', params: { id: run.id }, search: next, replace: true, resetScroll: false });
  const open = (next: string | undefined) => show({ ...(view && { steps: view }), ...(next !== undefined && { step: next }) });
  const ways = known.data || known.isPending ? (['graph', 'table', 'timeline'] as const) : (['table', 'timeline'] as const);
  const way = ways.find((one) => one === view) ?? ways[0];
  const approvals = useApprovals(run.job, live).data?.items.filter((one) => live && one.run === run.id) ?? [];
  const drawer = (close: () => void) => step !== undefined && <FlowStep run={run} graph={graph} step={step} states={states} nodes={nodes.data?.items ?? []} onClose={close} />;
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
        {nodes.data && way === 'table' && <NodeTable label={t('flowRun.title')} states={states} graph={graph} onOpen={open} />}
        {nodes.data && way === 'timeline' && <FlowTimeline label={t('flowRun.timeline')} states={states} graph={graph} now={now} onOpen={open} />}
        {nodes.data && way !== 'graph' && step !== undefined && graph.index.has(step) && <div className={classes.below}>{drawer(() => open(undefined))}</div>}
      </Panel>
    </>
  );
}
