import { useMemo } from 'react';
import { useTranslation } from 'react-i18next';
import { FlowGraph } from '../../flow/FlowGraph.tsx';
import type { FlowGraph as Graph } from '../../flow/model/graph.ts';
import { Panel } from '../../parts/Panel.tsx';
import type { Path } from './document/paths.ts';
import { stepOf } from './flow.ts';
import classes from './FlowPane.module.css';
import type { Shown } from './useFaults.ts';

interface Props {
  graph: Graph;
  /** The name of the flow. */
  name: string | undefined;
  faults: readonly Shown[];
  /** The step at the cursor. */
  at: number | undefined;
  /** Moves the cursor to a place of the definition. */
  onPick: (path: Path) => void;
}

/** The graph of the steps as they are written: with their faults, and the step at the cursor. */
export function FlowPane({ graph, name, faults, at, onPick }: Props) {
  const { t } = useTranslation();
  const wrong = useMemo(() => {
    const steps = [...faults.filter(({ severity }) => severity === 'error').map(({ location }) => stepOf(location)), ...graph.faults.flatMap(({ steps }) => steps)];
    return new Set(steps.flatMap((i) => (i === undefined ? [] : [graph.ids[i] ?? ''])));
  }, [graph, faults]);
  const open = (id: string) => {
    const step = graph.ids.indexOf(id);
    if (step >= 0) return onPick(['steps', step, 'name']);
    // A name that no step has: where it is written.
    const edge = graph.edges.find(({ from }) => from < 0 && `?${graph.missing[-1 - from]}` === id);
    if (edge) onPick(['steps', edge.to, 'after', edge.place]);
  };
  return (
    <Panel title={t('flow.graph')}>
      {graph.steps.length === 0 ? <p className="dim">{t('flow.noSteps')}</p> : (
        <div className={classes.room}><FlowGraph graph={graph} label={t('flow.graphOf', { name: name ?? '' })} selected={at === undefined ? undefined : graph.ids[at]} faulty={wrong} onOpen={open} /></div>
      )}
    </Panel>
  );
}
