import { Link } from '@tanstack/react-router';
import { useMemo, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { useGrid, useItemGrids } from '../../api/flowRuns.ts';
import type { Job } from '../../api/types.ts';
import { FlowView } from '../../flow/FlowView.tsx';
import { gridRunsOf, itemRowsOf, rowsOf, withItems } from '../../flow/model/grid.ts';
import { LoadedStep } from '../../flow/run/FlowStep.tsx';
import { GridView } from '../../flow/run/GridView.tsx';
import { NodeDrawer } from '../../flow/run/NodeDrawer.tsx';
import { useFlowGraph } from '../../flow/useFlowGraph.ts';
import { titled } from '../../lib/jobTitle.ts';
import { visible } from '../../lib/visible.ts';
import { Panel } from '../../parts/Panel.tsx';
import { PartialNotice } from '../../parts/PartialNotice.tsx';
import classes from './JobPage.module.css';

interface Props {
  job: Job;
  /** The opened step: of the graph or, with the id of a run, of the grid. */
  step: string | undefined;
  run: string | undefined;
  onShow: (opened: { step?: string; run?: string }) => void;
}

/**
 * The steps of a flow as a graph, in the colours of its last run, above the grid of its last runs. The opened step is
 * part of the address, as is the opened cell of the grid.
 */
export function GraphPanel({ job, step, run, onShow }: Props) {
  const { t } = useTranslation();
  const graph = useFlowGraph(job.steps);
  const grid = useGrid(job.name).data;
  const runs = useMemo(() => gridRunsOf(grid?.steps ?? [], grid?.runs ?? []), [grid]);
  const rows = useMemo(() => graph && rowsOf(graph, runs), [graph, runs]);
  const [unfolded, setUnfolded] = useState<ReadonlySet<string>>(new Set());
  const loaded = useItemGrids(job.name, rows?.flatMap((row) => (unfolded.has(row.step) ? [row.step] : [])) ?? []);
  const items = useMemo(() => itemRowsOf(loaded.flatMap(({ steps }) => steps.map(({ name }) => name))), [loaded]);
  const shown = useMemo(() => withItems(runs, loaded.flatMap((one) => gridRunsOf(one.steps, one.runs))), [runs, loaded]);
  if (!graph || !rows) return null;
  const newest = runs.at(-1);
  const last = newest?.states;
  const ofGraph = run === undefined ? step : undefined;
  const cell = run !== undefined && step !== undefined ? { run, step } : undefined;
  return (
    <div className={classes.stack}>
      <FlowView graph={graph} states={last} label={t('flow.graphOf', { name: visible(titled(job)) })} step={ofGraph} onStep={(next) => onShow(next === undefined ? {} : { step: next })}>
        {(close) => ofGraph !== undefined && <NodeDrawer graph={graph} step={ofGraph} states={last} log={newest?.states.has(ofGraph) && <LastRun run={newest.id} step={ofGraph} />} onClose={close} />}
      </FlowView>
      {grid && (
        <Panel title={t('flowGrid.title')} help={t('flowGrid.help')}>
          {grid.partial && <PartialNotice />}
          <GridView label={t('flowGrid.title')} graph={graph} rows={rows} runs={shown} unfolded={unfolded} items={items} onUnfold={setUnfolded} opened={cell} onOpen={(of, opened) => onShow({ step: opened, run: of })} onClose={() => onShow({})}>
            {(close) => cell && <LoadedStep key={cell.run} id={cell.run} node={cell.step} onClose={close} />}
          </GridView>
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
