import { Link, useNavigate } from '@tanstack/react-router';
import { useMemo } from 'react';
import { useTranslation } from 'react-i18next';
import { useGrid } from '../../api/flowRuns.ts';
import type { Job } from '../../api/types.ts';
import { FlowView } from '../../flow/FlowView.tsx';
import { gridRunsOf, rowsOf } from '../../flow/model/grid.ts';
import { FlowGrid } from '../../flow/run/FlowGrid.tsx';
import { NodeDrawer } from '../../flow/run/NodeDrawer.tsx';
import { useFlowGraph } from '../../flow/useFlowGraph.ts';
import { titled } from '../../lib/jobTitle.ts';
import { visible } from '../../lib/visible.ts';
import { Panel } from '../../parts/Panel.tsx';
import { PartialNotice } from '../../parts/PartialNotice.tsx';
import classes from './JobPage.module.css';

/**
 * The steps of a flow as a graph, in the colours of its last run, above the grid of its last runs. The opened step is
 * part of the address.
 */
export function GraphPanel({ job, step, onStep }: { job: Job; step: string | undefined; onStep: (step: string | undefined) => void }) {
  const { t } = useTranslation();
  const navigate = useNavigate();
  const graph = useFlowGraph(job.steps);
  const grid = useGrid(job.name).data;
  const runs = useMemo(() => gridRunsOf(grid?.steps ?? [], grid?.runs ?? []), [grid]);
  const rows = useMemo(() => graph && rowsOf(graph, runs), [graph, runs]);
  if (!graph || !rows) return null;
  const newest = runs.at(-1);
  const last = newest?.states;
  return (
    <div className={classes.stack}>
      <FlowView graph={graph} states={last} label={t('flow.graphOf', { name: visible(titled(job)) })} step={step} onStep={onStep}>
        {(close) => step !== undefined && <NodeDrawer graph={graph} step={step} states={last} log={newest?.states.has(step) && <LastRun run={newest.id} step={step} />} onClose={close} />}
      </FlowView>
      {grid && (
        <Panel title={t('flowGrid.title')} help={t('flowGrid.help')}>
          {grid.partial && <PartialNotice />}
          <FlowGrid label={t('flowGrid.title')} rows={rows} runs={runs} onOpen={(id, opened) => void navigate({ to: '/runs/$id', params: { id }, search: { step: opened } })} />
        </Panel>
      )}
    </div>
  );
}

/** A link to the step in the flow run whose colours the graph has. */
function LastRun({ run, step }: { run: string; step: string }) {
  const { t } = useTranslation();
  return <p className="small"><Link to="/runs/$id" params={{ id: run }} search={{ step }}>{t('nodeDrawer.lastRun')}</Link></p>;
}
