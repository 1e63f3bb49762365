import { memo, useEffect, useRef, useState, type KeyboardEvent } from 'react';
import { useText } from '../../i18n/useText.ts';
import { listed } from '../../lib/lists.ts';
import { formatTime } from '../../lib/time.ts';
import { visible } from '../../lib/visible.ts';
import { Icon } from '../../parts/icons.tsx';
import { PlainLink } from '../../parts/PlainLink.tsx';
import { nodeLooks } from '../looks.ts';
import { cellFor, type Cell, type GridRow, type GridRun } from '../model/grid.ts';
import { useScrollWindow } from '../useScrollWindow.ts';
import classes from './FlowGrid.module.css';

interface Props {
  label: string;
  rows: readonly GridRow[];
  /** Oldest first. */
  runs: readonly GridRun[];
  onOpen: (run: string, step: string) => void;
}

const rowHeight = 30;
const headHeight = 34;

/** Steps by flow runs, with the status of each. Only the rows in view exist. */
export function FlowGrid({ label, rows, runs, onOpen }: Props) {
  const { t, language } = useText();
  const frame = useRef<HTMLDivElement>(null);
  const { first, end } = useScrollWindow(frame, rows.length, rowHeight);
  // One tab stop, and arrow keys inside.
  const [stop, setStop] = useState<Cell>({ row: 0, column: Math.max(0, runs.length - 1) });

  // The newest runs are at the right.
  useEffect(() => {
    const element = frame.current;
    if (element) element.scrollLeft = element.scrollWidth;
  }, [runs.length]);

  const focus = (cell: Cell) => {
    setStop(cell);
    const element = frame.current;
    if (!element) return;
    const top = cell.row * rowHeight;
    if (top < element.scrollTop) element.scrollTop = top;
    if (top + rowHeight + headHeight > element.scrollTop + element.clientHeight) element.scrollTop = top + rowHeight + headHeight - element.clientHeight;
    const take = (tries: number) => {
      const found = element.querySelector<HTMLElement>(`[data-cell="${cell.row}.${cell.column}"]`);
      if (found) {
        found.focus({ preventScroll: true });
        found.scrollIntoView({ block: 'nearest', inline: 'nearest' });
      } else if (tries > 0) requestAnimationFrame(() => take(tries - 1));
    };
    take(10);
  };
  const open = ({ row, column }: Cell) => {
    const [run, step] = [runs[column], rows[row]];
    if (run && step && run.states.has(step.step)) onOpen(run.id, step.step);
  };
  const onKeyDown = (event: KeyboardEvent<HTMLDivElement>) => {
    const at = event.target instanceof HTMLElement ? event.target.dataset.cell?.split('.').map(Number) : undefined;
    if (!at) return;
    const cell = { row: at[0] ?? 0, column: at[1] ?? 0 };
    const next = cellFor(event.key, event.ctrlKey, cell, rows.length, runs.length);
    if (!next && event.key !== 'Enter' && event.key !== ' ') return;
    event.preventDefault();
    event.stopPropagation();
    if (next) focus(next);
    else open(cell);
  };
  const columns = { gridTemplateColumns: `minmax(7rem, min(18rem, 40vw)) repeat(${runs.length}, 2rem)` };

  if (runs.length === 0) return <p className="dim">{t('flowGrid.empty')}</p>;
  return (
    <div ref={frame} className={classes.frame}>
      <div role="grid" aria-label={label} aria-rowcount={rows.length + 1} aria-colcount={runs.length + 1} aria-readonly="true" className={classes.grid} onKeyDown={onKeyDown}>
        <div role="row" aria-rowindex={1} className={classes.head} style={columns}>
          <span role="columnheader" className={classes.corner}>{t('flowGrid.step')}</span>
          {runs.map(({ id, plannedAt, status }) => {
            const said = listed([formatTime(plannedAt, language), t(`flow.status.${status}`)], language);
            return (
              <span key={id} role="columnheader">
                <PlainLink href={`/runs/${encodeURIComponent(id)}`} className={classes.run} data-tone={nodeLooks[status].tone} title={said}>
                  <Icon name={nodeLooks[status].icon} size={13} /><span className="unseen">{said}</span>
                </PlainLink>
              </span>
            );
          })}
        </div>
        <div role="rowgroup" className={classes.body} style={{ height: rows.length * rowHeight }}>
          {rows.slice(first, end).map((row, i) => (
            <Row key={row.step} row={row} index={first + i} runs={runs} columns={columns.gridTemplateColumns} stop={stop.row === first + i ? stop.column : -1} onOpen={open} />
          ))}
        </div>
      </div>
    </div>
  );
}

interface RowProps {
  row: GridRow;
  index: number;
  runs: readonly GridRun[];
  columns: string;
  /** The cell that takes the focus; -1 if none of this row does. */
  stop: number;
  onOpen: (cell: Cell) => void;
}

const Row = memo(function Row({ row, index, runs, columns, stop, onOpen }: RowProps) {
  const { t, language } = useText();
  return (
    <div role="row" aria-rowindex={index + 2} className={classes.row} data-gone={row.gone || undefined} style={{ gridTemplateColumns: columns, transform: `translateY(${index * rowHeight}px)` }}>
      <span role="rowheader" className={classes.name} title={row.gone ? t('flowGrid.gone') : row.step}>{visible(row.title ?? row.step)}</span>
      {runs.map(({ id, plannedAt, states }, column) => {
        const state = states.get(row.step);
        const look = state && nodeLooks[state.status];
        const words = listed([state ? t(`flow.status.${state.status}`) : t('flowGrid.none'), state?.kept && t('flow.kept'), state?.reason], language);
        return (
          <span
            key={id} role="gridcell" aria-colindex={column + 2} className={classes.cell} data-cell={`${index}.${column}`} data-tone={look?.tone} data-status={state?.status} data-kept={state?.kept} tabIndex={stop === column ? 0 : -1}
            aria-label={listed([words, formatTime(plannedAt, language)], language)} title={`${row.step}\n${formatTime(plannedAt, language)}\n${words}`} onClick={() => onOpen({ row: index, column })}
          >
            {look ? <Icon name={look.icon} size={12} /> : <span aria-hidden="true">·</span>}
          </span>
        );
      })}
    </div>
  );
});
