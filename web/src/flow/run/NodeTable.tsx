import { useMemo, useRef, useState } from 'react';
import { useText } from '../../i18n/useText.ts';
import { listed, listSeparator } from '../../lib/lists.ts';
import { visible } from '../../lib/visible.ts';
import { tookText } from '../graph/words.ts';
import type { FlowGraph } from '../model/graph.ts';
import { countsOf, ranked, type NodeState, type NodeStates, type NodeStatus } from '../model/state.ts';
import type { Step } from '../model/steps.ts';
import { NodeBadge } from '../NodeBadge.tsx';
import { useScrollWindow } from '../useScrollWindow.ts';
import drawer from './NodeDrawer.module.css';
import classes from './NodeTable.module.css';
import { WhyText } from './WhyText.tsx';

const rowHeight = 34;

/** The steps of a flow run with their statuses, and why they wait or ended so; filtered by status. Only rows in view exist. The rows may be workers instead. Of a step that waits for fires, the graph says which ones. */
export function NodeTable({ label, states, graph, of = 'step', onOpen }: { label: string; states: NodeStates; graph?: FlowGraph | undefined; of?: 'step' | 'worker'; onOpen: (step: string) => void }) {
  const { t, language } = useText();
  const frame = useRef<HTMLDivElement>(null);
  const [only, setOnly] = useState<NodeStatus>();
  const counts = useMemo(() => ranked(countsOf(states.values())), [states]);
  const shown = useMemo(() => [...states].filter(([, { status }]) => only === undefined || status === only), [states, only]);
  const { first, end } = useScrollWindow(frame, shown.length, rowHeight);
  return (
    <div className={classes.part}>
      {counts.length > 1 && (
        <div role="group" aria-label={t('nodeDrawer.filter')} className={drawer.filters}>
          {counts.map(([status, count]) => (
            <button key={status} type="button" className={drawer.filter} aria-pressed={only === status} onClick={() => setOnly(only === status ? undefined : status)}><NodeBadge status={status} />{count}</button>
          ))}
        </div>
      )}
      <div ref={frame} className={classes.frame} role="table" aria-label={label} aria-rowcount={shown.length + 1} tabIndex={0}>
        <div role="row" aria-rowindex={1} className={classes.head}>
          {(['step', 'status', 'why', 'took'] as const).map((column) => <span key={column} role="columnheader" data-column={column}>{t(`nodeTable.${column === 'step' ? of : column}`)}</span>)}
        </div>
        <div role="rowgroup" className={classes.body} style={{ height: shown.length * rowHeight }}>
          {shown.slice(first, end).map(([step, state], i) => (
            <div key={step} role="row" aria-rowindex={first + i + 2} className={classes.row} data-node-row={step} style={{ transform: `translateY(${(first + i) * rowHeight}px)` }}>
              <span role="cell" data-column="step"><button type="button" onClick={() => onOpen(step)}>{visible(step)}</button></span>
              <span role="cell" data-column="status"><NodeBadge status={state.status} /></span>
              <Why state={state} waits={graph?.steps[graph.index.get(step) ?? -1]} />
              <span role="cell" data-column="took">{!state.kept && tookText(state, language)}</span>
            </div>
          ))}
        </div>
      </div>
    </div>
  );
}

/** Why a node waits or ended so; of a step that waits for fires also which ones. */
function Why({ state, waits }: { state: NodeState; waits: Step | undefined }) {
  const { t, language } = useText();
  const fires = waits?.fires && t(`flow.fires.${waits.fires}`);
  return (
    <span role="cell" data-column="why" title={listed([state.reason, fires], language)}>
      {state.kept && t('nodeDrawer.keptShort')}{state.kept && state.reason && listSeparator(language)}<WhyText state={state} />{fires && <span className="dim">{state.reason && ' · '}{fires}</span>}
    </span>
  );
}
