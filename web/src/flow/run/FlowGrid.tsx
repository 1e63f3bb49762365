import type { TFunction } from 'i18next';
import { memo, useEffect, useMemo, useRef, useState, type KeyboardEvent } from 'react';
import { useText } from '../../i18n/useText.ts';
import { formatSeconds, secondsBetween } from '../../lib/duration.ts';
import { listed } from '../../lib/lists.ts';
import { formatTime } from '../../lib/time.ts';
import { useNow } from '../../lib/useNow.ts';
import { visible } from '../../lib/visible.ts';
import { Icon } from '../../parts/icons.tsx';
import { PlainLink } from '../../parts/PlainLink.tsx';
import { nodeLooks } from '../looks.ts';
import { cellFor, failedRows, secondsOf, type Cell, type GridRow, type GridRun, type GridState } from '../model/grid.ts';
import { ranked, type Counts } from '../model/state.ts';
import { NodeBadge } from '../NodeBadge.tsx';
import { useScrollWindow } from '../useScrollWindow.ts';
import classes from './FlowGrid.module.css';

interface Props {
  label: string;
  rows: readonly GridRow[];
  /** Oldest first. */
  runs: readonly GridRun[];
  /** The cell whose drawer is open. */
  opened?: { run: string; step: string } | undefined;
  onOpen: (run: string, step: string) => void;
  /** Called on Escape. */
  onClose?: (() => void) | undefined;
}

const rowHeight = 30;
const headHeight = 60;
const barHeight = 22;

/** A run with the words for its cells: to format a time takes longer than all else of a cell. */
interface Column {
  run: GridRun;
  when: string;
  took: string | undefined;
  /** Height of the bar that shows its duration. */
  bar: number;
}

function columnsOf(runs: readonly GridRun[], language: string): Column[] {
  const seconds = runs.map(({ startedAt, endedAt }) => secondsBetween(startedAt, endedAt));
  const longest = Math.max(0.001, ...seconds.map((one) => one ?? 0));
  return runs.map((run, i) => {
    const took = seconds[i];
    return { run, when: formatTime(run.plannedAt, language), took: took === undefined ? undefined : formatSeconds(took, language), bar: took === undefined ? 0 : Math.max(2, Math.round((barHeight * took) / longest)) };
  });
}

/** A cell in words: its status and why, how long it took, and its attempt unless that is the first. */
function wordsOf(t: TFunction, language: string, state: GridState | undefined, now: number): string {
  if (!state) return t('flowGrid.none');
  const took = secondsOf(state, now);
  const { status, kept, reason, attempt = 1 } = state;
  return listed([t(`flow.status.${status}`), kept && t('flow.kept'), reason, took !== undefined && formatSeconds(took, language), attempt > 1 && t('run.attemptNumber', { n: attempt })], language);
}

/** How many cells have each status. */
function cellCounts(runs: readonly GridRun[]): Counts {
  const counts: Counts = {};
  for (const { states } of runs) for (const { status } of states.values()) counts[status] = (counts[status] ?? 0) + 1;
  return counts;
}

/** Steps by flow runs, with the status of each, and how long the runs took. Only the rows in view exist. */
export function FlowGrid({ label, rows: all, runs, opened, onOpen, onClose }: Props) {
  const { t, language } = useText();
  const frame = useRef<HTMLDivElement>(null);
  const [onlyFailed, setOnlyFailed] = useState(false);
  const failed = useMemo(() => failedRows(all, runs), [all, runs]);
  const filtered = onlyFailed && failed.length > 0;
  const rows = filtered ? failed : all;
  const headings = useMemo(() => columnsOf(runs, language), [runs, language]);
  const legend = useMemo(() => ranked(cellCounts(runs)), [runs]);
  const { first, end } = useScrollWindow(frame, rows.length, rowHeight);
  // One tab stop, and arrow keys inside. Its row exists while it is out of view, or the focus would be lost.
  const [moved, setStop] = useState<Cell>();
  const at = opened && { row: rows.findIndex(({ step }) => step === opened.step), column: runs.findIndex(({ id }) => id === opened.run) };
  const wanted = moved ?? (at && at.row >= 0 && at.column >= 0 ? at : { row: 0, column: runs.length - 1 });
  const stop = { row: Math.min(wanted.row, rows.length - 1), column: Math.min(wanted.column, runs.length - 1) };
  const now = useNow(10_000, runs.some(({ status }) => status === 'running'));
  const [focused, setFocused] = useState<Cell>();
  const spoken = focused && { row: rows[focused.row], heading: headings[focused.column] };
  const shown = Array.from({ length: end - first }, (_, i) => first + i);
  if (stop.row >= 0 && (stop.row < first || stop.row >= end)) shown.push(stop.row);

  // The newest runs are at the right.
  useEffect(() => {
    const element = frame.current;
    if (element) element.scrollLeft = element.scrollWidth;
  }, [runs.length]);

  const take = (cell: Cell | undefined) => {
    setFocused(cell);
    if (cell) setStop(cell);
  };
  const focus = (cell: Cell) => {
    setStop(cell);
    const element = frame.current;
    if (!element) return;
    const top = Math.max(0, cell.row) * rowHeight;
    if (top < element.scrollTop) element.scrollTop = top;
    if (top + rowHeight + headHeight > element.scrollTop + element.clientHeight) element.scrollTop = top + rowHeight + headHeight - element.clientHeight;
    const reach = (tries: number) => {
      const found = element.querySelector<HTMLElement>(`[data-cell="${cell.row}.${cell.column}"]`);
      if (found) {
        found.focus({ preventScroll: true });
        found.scrollIntoView({ block: 'nearest', inline: 'nearest' });
      } else if (tries > 0) requestAnimationFrame(() => reach(tries - 1));
    };
    reach(10);
  };
  const open = ({ row, column }: Cell) => {
    const [run, step] = [runs[column], rows[row]];
    if (run && step && run.states.has(step.step)) onOpen(run.id, step.step);
  };
  const onKeyDown = (event: KeyboardEvent<HTMLDivElement>) => {
    const cell = cellOf(event.target);
    if (!cell) return;
    if (event.key === 'Escape' && onClose) {
      event.stopPropagation();
      onClose();
      return;
    }
    const next = cellFor(event.key, event.ctrlKey, cell, rows.length, runs.length);
    // The head has links.
    if (!next && (cell.row < 0 || (event.key !== 'Enter' && event.key !== ' '))) return;
    event.preventDefault();
    event.stopPropagation();
    if (next) focus(next);
    else open(cell);
  };
  const columns = { gridTemplateColumns: `minmax(7rem, min(18rem, 40vw)) repeat(${runs.length}, 2rem)` };

  if (runs.length === 0) return <p className="dim">{t('flowGrid.empty')}</p>;
  return (
    <div className={classes.part}>
      <div className={classes.tools}>
        <span className={classes.legend} role="group" aria-label={t('flowGrid.legend')}>{legend.map(([status]) => <NodeBadge key={status} status={status} />)}</span>
        {failed.length > 0 && <button type="button" className={classes.filter} aria-pressed={onlyFailed} onClick={() => setOnlyFailed(!onlyFailed)}>{t('flowGrid.onlyFailed', { count: failed.length })}</button>}
      </div>
      <div ref={frame} className={classes.frame}>
        <div role="grid" aria-label={label} aria-rowcount={rows.length + 1} aria-colcount={runs.length + 1} aria-readonly="true" className={classes.grid} onKeyDown={onKeyDown} onFocus={(event) => take(cellOf(event.target))} onBlur={() => setFocused(undefined)}>
          <div role="row" aria-rowindex={1} className={classes.head} style={columns}>
            <span role="columnheader" className={classes.corner}>{t('flowGrid.step')}</span>
            {headings.map(({ run: { id, status }, when, took, bar }, column) => {
              const said = listed([when, t(`flow.status.${status}`), took], language);
              return (
                <span key={id} role="columnheader" aria-colindex={column + 2}>
                  <PlainLink href={`/runs/${encodeURIComponent(id)}`} className={classes.run} data-tone={nodeLooks[status].tone} data-cell={`-1.${column}`} tabIndex={stop.row < 0 && stop.column === column ? 0 : -1} title={said}>
                    <span className={classes.bar} style={{ height: bar }} /><Icon name={nodeLooks[status].icon} size={13} /><span className="unseen">{said}</span>
                  </PlainLink>
                </span>
              );
            })}
          </div>
          <div role="rowgroup" className={classes.body} style={{ height: rows.length * rowHeight }}>
            {shown.map((index) => {
              const row = rows[index];
              return row && <Row key={row.step} row={row} index={index} headings={headings} columns={columns.gridTemplateColumns} now={now} stop={stop.row === index ? stop.column : -1} opened={opened?.step === row.step ? opened.run : undefined} onOpen={onOpen} />;
            })}
          </div>
        </div>
      </div>
      {/* A tooltip is for the pointer alone; a screen reader has the name of the cell. */}
      <p className={classes.focused} aria-hidden="true">{spoken?.row && spoken.heading && <><b>{visible(spoken.row.title ?? spoken.row.step)}</b> · {spoken.heading.when} · {wordsOf(t, language, spoken.heading.run.states.get(spoken.row.step), now)}</>}</p>
    </div>
  );
}

/** Returns the cell that has the focus. */
function cellOf(target: EventTarget): Cell | undefined {
  const [row, column] = target instanceof HTMLElement ? (target.dataset.cell?.split('.').map(Number) ?? []) : [];
  return row === undefined || column === undefined ? undefined : { row, column };
}

interface RowProps {
  row: GridRow;
  index: number;
  headings: readonly Column[];
  columns: string;
  now: number;
  /** The cell that takes the focus; -1 if none of this row does. */
  stop: number;
  /** The run of the opened cell. */
  opened: string | undefined;
  onOpen: (run: string, step: string) => void;
}

const Row = memo(function Row({ row, index, headings, columns, now, stop, opened, onOpen }: RowProps) {
  const { t, language } = useText();
  return (
    <div role="row" aria-rowindex={index + 2} className={classes.row} data-gone={row.gone || undefined} style={{ gridTemplateColumns: columns, transform: `translateY(${index * rowHeight}px)` }}>
      <span role="rowheader" className={classes.name} title={row.gone ? t('flowGrid.gone') : row.step}>{visible(row.title ?? row.step)}</span>
      {headings.map(({ run: { id, states }, when }, column) => {
        const state = states.get(row.step);
        const look = state && nodeLooks[state.status];
        const words = wordsOf(t, language, state, now);
        return (
          <span
            key={id} role="gridcell" aria-colindex={column + 2} className={classes.cell} data-cell={`${index}.${column}`} data-tone={look?.tone} data-status={state?.status} data-kept={state?.kept} data-opened={opened === id || undefined} aria-selected={opened === id || undefined} tabIndex={stop === column ? 0 : -1}
            aria-label={listed([words, when], language)} title={`${row.step}\n${when}\n${words}`} onClick={() => state && onOpen(id, row.step)}
          >
            {look ? <Icon name={look.icon} size={12} /> : <span aria-hidden="true">·</span>}
          </span>
        );
      })}
    </div>
  );
});
