import { useEffect, useMemo, useState, type ReactNode } from 'react';
import { FlowGraph } from '../../src/flow/FlowGraph.tsx';
import { groupsOf } from '../../src/flow/model/fold.ts';
import { rowsOf, type GridRun } from '../../src/flow/model/grid.ts';
import { graphOf } from '../../src/flow/model/graph.ts';
import { stepsOf } from '../../src/flow/model/steps.ts';
import { ApprovalsPanel } from '../../src/flow/run/Approvals.tsx';
import { BackfillDialog } from '../../src/flow/run/BackfillDialog.tsx';
import { FlowGrid } from '../../src/flow/run/FlowGrid.tsx';
import { FlowTimeline } from '../../src/flow/run/FlowTimeline.tsx';
import { NodeDrawer } from '../../src/flow/run/NodeDrawer.tsx';
import { NodeTable } from '../../src/flow/run/NodeTable.tsx';
import { RerunDialog } from '../../src/flow/run/RerunDialog.tsx';
import { changed, halfway, layered, nightly, nightlyStates } from './flows.ts';

const number = (wanted: URLSearchParams, name: string, otherwise: number) => Number(wanted.get(name) ?? otherwise);
const now = Date.UTC(2026, 10, 24, 2, 40);
const none = () => undefined;

function useFlow(wanted: URLSearchParams) {
  const layers = number(wanted, 'layers', 0);
  const steps = useMemo(() => (layers > 0 ? layered(layers, number(wanted, 'width', 10), number(wanted, 'parents', 2)) : nightly), [wanted, layers]);
  const graph = useMemo(() => graphOf(stepsOf(steps)), [steps]);
  const initial = useMemo(() => (wanted.has('plain') ? undefined : layers > 0 ? halfway(steps) : nightlyStates), [wanted, layers, steps]);
  const [states, setStates] = useState(initial);
  // The measurement changes as many nodes as it says.
  useEffect(() => {
    const change = ({ detail }: CustomEvent<number>) => setStates((before) => before && changed(before, detail));
    window.addEventListener('change-nodes', change as EventListener);
    return () => window.removeEventListener('change-nodes', change as EventListener);
  }, []);
  return { graph, states };
}

function Graph({ wanted }: { wanted: URLSearchParams }) {
  const { graph, states } = useFlow(wanted);
  const [selected, setSelected] = useState<string>();
  return <div style={{ height: 'calc(100vh - 2rem)', margin: '1rem' }}><FlowGraph graph={graph} label="nightly-etl" states={states} selected={selected} onOpen={setSelected} onClose={() => setSelected(undefined)} /></div>;
}

function Grid({ wanted }: { wanted: URLSearchParams }) {
  const { graph, states = new Map() } = useFlow(wanted);
  const [opened, setOpened] = useState('');
  const runs = useMemo(() => Array.from({ length: 20 }, (_, i): GridRun => ({ id: `r${i}`, plannedAt: new Date(now - (20 - i) * 86_400_000).toISOString(), status: i % 6 === 0 ? 'failed' : 'succeeded', states: i === 19 ? states : new Map(states) })), [states]);
  const [unfolded, setUnfolded] = useState<ReadonlySet<string>>(() => new Set(wanted.has('folded') ? [] : groupsOf(graph).map(({ id }) => id)));
  return <div style={{ margin: '1rem' }}><FlowGrid label="Grid" graph={graph} rows={rowsOf(graph, runs)} runs={runs} unfolded={unfolded} items={new Map()} onUnfold={setUnfolded} opened={undefined} onOpen={(run, step) => setOpened(`${run} ${step}`)} onClose={none} /><p data-opened="">{opened}</p></div>;
}

function Drawer({ wanted }: { wanted: URLSearchParams }) {
  const { graph, states } = useFlow(wanted);
  const step = wanted.get('step') ?? 'load';
  return (
    <div style={{ maxWidth: '26rem', margin: '1rem' }}>
      <NodeDrawer
        graph={graph} step={step} states={states} onClose={none} onRerun={none} onApprove={step === 'publish' ? none : undefined} onReject={step === 'publish' ? none : undefined} outputs={{ day: '2026-11-23' }}
        attempts={[{ attempt: 1, run: 'a', status: 'failed', startedAt: '2026-11-24T02:30:00Z', endedAt: '2026-11-24T02:31:00Z' }, { attempt: 2, run: 'b', status: 'running', startedAt: '2026-11-24T02:32:00Z' }]}
      />
    </div>
  );
}

function Timeline({ wanted }: { wanted: URLSearchParams }) {
  const { states = new Map() } = useFlow(wanted);
  return <div style={{ margin: '1rem' }}><FlowTimeline label="Timeline" states={states} now={now} onOpen={none} /></div>;
}

function Table({ wanted }: { wanted: URLSearchParams }) {
  const { states = new Map() } = useFlow(wanted);
  return <div style={{ margin: '1rem' }}><NodeTable label="Steps" states={states} onOpen={none} /></div>;
}

const scenes: Record<string, (wanted: URLSearchParams) => ReactNode> = {
  graph: (wanted) => <Graph wanted={wanted} />,
  grid: (wanted) => <Grid wanted={wanted} />,
  drawer: (wanted) => <Drawer wanted={wanted} />,
  table: (wanted) => <Table wanted={wanted} />,
  timeline: (wanted) => <Timeline wanted={wanted} />,
  rerun: () => <RerunDialog flow="nightly-etl" steps={['extract', 'load', 'report']} busy={false} error={null} preview={async ({ scope }) => ({ run: scope === 'all' ? ['extract', 'load', 'report'] : ['load@00003', 'load@00007', 'report'], runTotal: 3, kept: ['extract'], keptTotal: 1 })} onSubmit={none} onClose={none} />,
  backfill: () => (
    <BackfillDialog
      job="nightly-etl" params={{ DAY: { default: 'yesterday', pattern: 'yesterday|today' } }} busy={false} error={null} onSubmit={none} onClose={none}
      preview={async ({ from }) => ({ items: Array.from({ length: 30 }, (_, i) => ({ plannedAt: new Date(Date.parse(from) + i * 86_400_000).toISOString(), attempt: 1 + (i % 2) })), total: 30, live: [from], unknown: 2, warnings: [] })}
    />
  ),
  approvals: () => <div style={{ margin: '1rem' }}><ApprovalsPanel approvals={[{ flow: 'nightly-etl', run: 'x', step: 'publish', text: 'Publish the report?', since: new Date(Date.now() - 600_000).toISOString(), until: new Date(Date.now() + 3_600_000).toISOString(), mine: true }, { flow: 'etl', run: 'y', step: 'go', text: 'Go?', since: new Date().toISOString(), mine: false }]} onDecide={none} /></div>,
};

export const scene = (wanted: URLSearchParams) => scenes[wanted.get('part') ?? 'graph']?.(wanted);
