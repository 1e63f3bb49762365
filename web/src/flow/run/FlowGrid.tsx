import type { TFunction } from 'i18next';
import { memo, useEffect, useMemo, useRef, useState, type KeyboardEvent } from 'react';
import { useText } from '../../i18n/useText.ts';
import { formatSeconds, secondsBetween } from '../../lib/duration.ts';
import { nodeOf } from '../../lib/jobPlace.ts';
import { listed } from '../../lib/lists.ts';
import { formatTime } from '../../lib/time.ts';
import { toggledIn } from '../../lib/toggled.ts';
import { useNow } from '../../lib/useNow.ts';
import { visible } from '../../lib/visible.ts';
import { Icon } from '../../parts/icons.tsx';
import { PlainLink } from '../../parts/PlainLink.tsx';
import { countsText, groupName } from '../graph/words.ts';
import { nodeLooks } from '../looks.ts';
import { groupsOf } from '../model/fold.ts';
import type { FlowGraph } from '../model/graph.ts';
import { cellFor, cellOf, failedRows, foldedRows, secondsOf, type Cell, type GridRow, type GridRun } from '../model/grid.ts';
import { isFailure, ranked, totalOf, type Counts } from '../model/state.ts';
import { NodeBadge } from '../NodeBadge.tsx';
import { useScrollWindow } from '../useScrollWindow.ts';
import classes from './FlowGrid.module.css';

interface Props {
  label: string;
  graph: FlowGraph;
  /** All steps. */
  rows: readonly GridRow[];
  /** Oldest first. */
  runs: readonly GridRun[];
  /** The groups and maps whose rows are shown, and the rows of the items of these. */
  unfolded: ReadonlySet<string>;
  items: ReadonlyMap<string, readonly GridRow[]>;
  onUnfold: (unfolded: ReadonlySet<string>) => void;
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

/** A cell in words: its status and why, how long it took, its attempt unless that is the first, and the nodes that it stands for. */
function wordsOf(t: TFunction, language: string, row: GridRow, run: GridRun, now: number): string {
  const { state, counts } = cellOf(row, run);
  if (!state) return t('flowGrid.none');
  const took = secondsOf(state, now);
  const { status, kept, reason, attempt = 1 } = state;
  return listed([t(`flow.status.${status}`), kept && t('flow.kept'), reason, took !== undefined && formatSeconds(took, language), attempt > 1 && t('run.attemptNumber', { n: attempt }), counts && countsText(t, language, counts)], language);
}

/** The name of a row. */
function nameOf(t: TFunction, { step, title, group }: GridRow): string {
  const { item } = nodeOf(step);
  return group ? groupName(t, group) : item === undefined ? visible(title ?? step) : t('nodeDrawer.item', { item });
}

/** How many of the nodes that a cell stands for have succeeded: 40/50. */
function share(counts: Counts, language: string): string {
  const short = (n: number) => (n < 1000 ? String(n) : new Intl.NumberFormat(language, { notation: 'compact', maximumFractionDigits: 0 }).format(n));
  return `${short(counts.succeeded ?? 0)}/${short(totalOf(counts))}`;
}

/** How many cells have each status. */
function cellCounts(runs: readonly GridRun[]): Counts {
  const counts: Counts = {};
  for (const { states } of runs) for (const { status } of states.values()) counts[status] = (counts[status] ?? 0) + 1;
  return counts;
}

/** Steps by flow runs, with the status of each, and how long the runs took. Only the rows in view exist. */
export function FlowGrid({ label, graph, rows: all, runs, unfolded, items, onUnfold, opened, onOpen, onClose }: Props) {
  const { t, language } = useText();
  const frame = useRef<HTMLDivElement>(null);
  const [onlyFailed, setOnlyFailed] = useState(false);
  const failed = useMemo(() => failedRows(all, runs), [all, runs]);
  const filtered = onlyFailed && failed.length > 0;
  const groups = useMemo(() => (filtered ? [] : groupsOf(graph)), [graph, filtered]);
  const rows = useMemo(() => {
    const shown = foldedRows(graph, filtered ? failed : all, runs, unfolded, items, groups);
    return filtered ? shown.filter(({ step }) => runs.some(({ states }) => isFailure(states.get(step)?.status ?? 'pending'))) : shown;
  }, [graph, filtered, failed, all, runs, unfolded, items, groups]);
  const folds = rows.some((row) => row.unfolded !== undefined);
  const closed = groups.some(({ id }) => !unfolded.has(id));
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
  const toggle = (step: string) => onUnfold(toggledIn(unfolded, [step]));
  const open = ({ row, column }: Cell) => {
    const [run, of] = [runs[column], rows[row]];
    if (!of) return;
    if (of.unfolded !== undefined && (of.group || column < 0)) toggle(of.step);
    else if (run?.states.has(of.step)) onOpen(run.id, of.step);
  };
  const onKeyDown = (event: KeyboardEvent<HTMLDivElement>) => {
    const cell = placeOf(event.target);
    if (!cell) return;
    if (event.key === 'Escape' && onClose) {
      event.stopPropagation();
      onClose();
      return;
    }
    const fold = cell.column < 0 ? rows[cell.row] : undefined;
    if (fold?.unfolded === (event.key === 'ArrowLeft') && (event.key === 'ArrowLeft' || event.key === 'ArrowRight')) {
      event.preventDefault();
      toggle(fold.step);
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
  const columns = { gridTemplateColumns: `minmax(7rem, min(18rem, 40vw)) repeat(${runs.length}, ${folds ? 3.25 : 2}rem)` };

  if (runs.length === 0) return <p className="dim">{t('flowGrid.empty')}</p>;
  return (
    <div className={classes.part}>
      <div className={classes.tools}>
        <span className={classes.legend} role="group" aria-label={t('flowGrid.legend')}>{legend.map(([status]) => <NodeBadge key={status} status={status} />)}</span>
        <span className={classes.buttons}>
          {groups.length > 0 && <button type="button" className={classes.filter} onClick={() => onUnfold(closed ? new Set([...unfolded, ...groups.map(({ id }) => id)]) : new Set([...unfolded].filter((id) => !groups.some((group) => group.id === id))))}>{t(closed ? 'flow.unfoldAll' : 'flow.foldAll')}</button>}
          {failed.length > 0 && <button type="button" className={classes.filter} aria-pressed={onlyFailed} onClick={() => setOnlyFailed(!onlyFailed)}>{t('flowGrid.onlyFailed', { count: failed.length })}</button>}
        </span>
      </div>
      <div ref={frame} className={classes.frame}>
        <div role={folds ? 'treegrid' : 'grid'} aria-label={label} aria-rowcount={rows.length + 1} aria-colcount={runs.length + 1} aria-readonly="true" className={classes.grid} onKeyDown={onKeyDown} onFocus={(event) => take(placeOf(event.target))} onBlur={() => setFocused(undefined)}>
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
              return row && <Row key={row.step} row={row} index={index} headings={headings} columns={columns.gridTemplateColumns} now={now} stop={stop.row === index ? stop.column : 0} isStop={stop.row === index} opened={opened?.step === row.step ? opened.run : undefined} onOpen={onOpen} onToggle={toggle} />;
            })}
          </div>
        </div>
      </div>
      {/* A tooltip is for the pointer alone; a screen reader has the name of the cell. */}
      <p className={classes.focused} aria-hidden="true">{spoken?.row && spoken.heading && <><b>{nameOf(t, spoken.row)}</b> · {spoken.heading.when} · {wordsOf(t, language, spoken.row, spoken.heading.run, now)}</>}</p>
    </div>
  );
}

/** Returns the cell that has the focus. */
function placeOf(target: EventTarget): Cell | undefined {
  const [row, column] = target instanceof HTMLElement ? (target.dataset.cell?.split('.').map(Number) ?? []) : [];
  return row === undefined || column === undefined ? undefined : { row, column };
}

interface RowProps {
  row: GridRow;
  index: number;
  headings: readonly Column[];
  columns: string;
  now: number;
  /** The cell that takes the focus is in this row, and which one: -1 for the head of the row. */
  isStop: boolean;
  stop: number;
  /** The run of the opened cell. */
  opened: string | undefined;
  onOpen: (run: string, step: string) => void;
  onToggle: (step: string) => void;
}

const Row = memo(function Row({ row, index, headings, columns, now, isStop, stop, opened, onOpen, onToggle }: RowProps) {
  const { t, language } = useText();
  const { step, group, level = 1, unfolded } = row;
  const name = nameOf(t, row);
  const folds = unfolded !== undefined;
  return (
    <div role="row" aria-rowindex={index + 2} aria-level={folds || level > 1 ? level : undefined} aria-expanded={unfolded} className={classes.row} data-gone={row.gone || undefined} data-row={step} style={{ gridTemplateColumns: columns, transform: `translateY(${index * rowHeight}px)` }}>
      <span role="rowheader" className={classes.name} data-cell={`${index}.-1`} data-folds={folds || undefined} aria-expanded={unfolded} tabIndex={isStop && stop < 0 ? 0 : -1} title={row.gone ? t('flowGrid.gone') : group ? name : step} style={{ paddingInlineStart: `${0.75 + (level - 1) * 1}rem` }} onClick={() => folds && onToggle(step)}>
        {folds && <Icon name={unfolded ? 'down' : 'right'} size={12} />}<span>{name}</span>{row.members && <span className="dim"> {t('flow.steps', { count: row.members.length })}</span>}
      </span>
      {headings.map(({ run, when }, column) => {
        const { state, counts } = cellOf(row, run);
        const look = state && nodeLooks[state.status];
        const words = wordsOf(t, language, row, run, now);
        return (
          <span
            key={run.id} role="gridcell" aria-colindex={column + 2} className={classes.cell} data-cell={`${index}.${column}`} data-tone={look?.tone} data-status={state?.status} data-kept={state?.kept} data-counts={counts && ''} data-opened={opened === run.id || undefined} aria-selected={opened === run.id || undefined} tabIndex={isStop && stop === column ? 0 : -1}
            aria-label={listed([words, when], language)} title={`${group ? name : step}\n${when}\n${words}`} onClick={() => (group ? onToggle(step) : state && onOpen(run.id, step))}
          >
            {look ? <Icon name={look.icon} size={12} /> : <span aria-hidden="true">·</span>}
            {counts && <span aria-hidden="true" className={classes.share}>{share(counts, language)}</span>}
          </span>
        );
      })}
    </div>
  );
});
