import { useElementSize, useMediaQuery, useMergedRef } from '@mantine/hooks';
import { useRouter } from '@tanstack/react-router';
import { useEffect, useMemo, useRef, useState, type KeyboardEvent, type MouseEvent } from 'react';
import { useTranslation } from 'react-i18next';
import { useJobRows } from '../../api/jobList.ts';
import type { Job } from '../../api/types.ts';
import { filterKey, sortedBy, type JobFilter, type JobOrder, type JobSort } from '../../lib/jobFilter.ts';
import { Icon } from '../../parts/icons.tsx';
import { PartialNotice } from '../../parts/PartialNotice.tsx';
import { ProblemNotice } from '../../parts/ProblemNotice.tsx';
import { showNotice } from '../../parts/showNotice.ts';
import { useRowWindow } from '../../parts/useRowWindow.ts';
import { columnOf, columns, columnsIn, templateOf, type ColumnId } from './columns.ts';
import { drawnRows, RowAges, tabStop } from './drawn.ts';
import { JobCard, JobRow } from './JobRow.tsx';
import { JobMenu, type JobActs } from './JobMenu.tsx';
import classes from './JobTable.module.css';
import type { Extent, Selection } from './selection.ts';

interface Props extends JobActs {
  filter: JobFilter;
  /** Total number of jobs. */
  total: number;
  /** Loading: the previous list is shown. */
  busy: boolean;
  wanted: readonly ColumnId[];
  selection: Selection;
  /** How many of the list's jobs are selected. */
  picked: Extent;
  onSelect: (job: Job) => void;
  /** From the last selected job to the one in this row. */
  onSelectTo: (row: number, name: string | undefined) => void;
  /** Selects all jobs of the list, or none if all are selected. */
  onSelectAll: () => void;
  onSort: (sort: JobSort | undefined) => void;
  /** Start of a range of rows. */
  anchor: { current: Anchor | undefined };
}

/** A job and its row at that time: rows move while jobs fire. */
export interface Anchor {
  row: number;
  name: string | undefined;
}

const rem = () => Number.parseFloat(getComputedStyle(document.documentElement).fontSize);
const names: Record<ColumnId, 'group' | 'labels' | 'schedule' | 'results' | 'lastFire' | 'nextFire' | 'p95' | 'success' | 'updated'> = {
  group: 'group', labels: 'labels', schedule: 'schedule', results: 'results', last: 'lastFire', next: 'nextFire', p95: 'p95', success: 'success', updated: 'updated',
};

/** All jobs as one long table, of which only the visible rows exist. */
export function JobTable({ filter, total, busy, wanted, selection, picked, onSelect, onSelectTo, onSelectAll, onSort, anchor, ...acts }: Props) {
  const { t } = useTranslation();
  const router = useRouter();
  const phone = useMediaQuery('(max-width: 48em)', undefined, { getInitialValueInEffect: false });
  const list = useRef<HTMLDivElement>(null);
  const { ref: measure, width } = useElementSize();
  const frame = useRef<HTMLDivElement>(null);
  const frameRef = useMergedRef(frame, measure);
  const rowHeight = Math.round(rem() * (phone ? 6.25 : 2.9));
  const rows = useRowWindow(list, total, rowHeight);
  const { at, error, partial } = useJobRows(filter, rows);
  const [current, setCurrent] = useState(0);
  const [menu, setMenu] = useState<{ job: Job; left: number; top: number } | undefined>();
  const moved = useRef(false);
  const shown = useMemo(() => columnsIn(width / rem(), wanted, columnOf(filter.sort)), [width, wanted, filter.sort]);

  // A new list starts at the top.
  const key = filterKey(filter);
  useEffect(() => setCurrent(0), [key]);
  // The row of the keyboard position may not be rendered yet.
  useEffect(() => {
    if (!moved.current) return;
    const row = list.current?.querySelector<HTMLElement>(`[data-index="${current}"]`);
    if (!row) return;
    row.focus({ preventScroll: true });
    moved.current = false;
  });

  const jobOf = (element: Element | null): Job | undefined => {
    const row = element?.closest<HTMLElement>('[data-index]');
    const job = row ? at(Number(row.dataset.index)) : undefined;
    // The label names the affected job.
    return job?.name === row?.dataset.row ? job : undefined;
  };
  const select = (row: number, range: boolean) => {
    const job = at(row);
    if (range) onSelectTo(row, job?.name);
    else if (job) onSelect(job);
    anchor.current = { row, name: job?.name };
  };
  const click = (event: MouseEvent) => {
    const target = event.target as Element;
    const job = jobOf(target);
    if (!job) return;
    const row = Number(target.closest<HTMLElement>('[data-index]')?.dataset.index);
    setCurrent(row);
    const button = target.closest<HTMLElement>('[data-act]');
    switch (button?.dataset.act) {
      case 'select':
        return select(row, event.shiftKey);
      case 'run':
        // Runs without confirmation.
        return ages.current.hasJustMoved(row, performance.now()) ? showNotice(t, t('jobs.rowMoved')) : acts.onRun(job);
      case 'menu': {
        const box = button?.getBoundingClientRect();
        const origin = frame.current?.getBoundingClientRect();
        if (box && origin) setMenu({ job, left: box.left - origin.left, top: box.top - origin.top });
      }
    }
  };
  const closeMenu = () => {
    // The button belongs to its row, which moves with the job.
    frame.current?.querySelector<HTMLElement>(`[data-row="${CSS.escape(menu?.job.name ?? '')}"]`)?.focus({ preventScroll: true });
    setMenu(undefined);
  };
  const go = (row: number) => {
    const next = Math.max(0, Math.min(total - 1, row));
    setCurrent(next);
    moved.current = true;
    const top = (list.current?.getBoundingClientRect().top ?? 0) + next * rowHeight;
    // Neither below the header and banners, nor below the bars at the bottom.
    const page = getComputedStyle(document.documentElement);
    const head = Number.parseFloat(page.scrollPaddingTop) + (phone ? 0 : 2.4 * rem());
    const end = window.innerHeight - Number.parseFloat(page.scrollPaddingBottom) - (selection.size > 0 ? (phone ? 7 : 5) * rem() : 0);
    if (top < head) window.scrollBy({ top: top - head });
    else if (top + rowHeight > end) window.scrollBy({ top: top + rowHeight - end });
  };
  const press = (event: KeyboardEvent) => {
    const target = event.target as HTMLElement;
    if (target.getAttribute('role') !== 'row' || event.ctrlKey || event.metaKey || event.altKey) return;
    // A moving row keeps the focus; one that is not rendered yet has none.
    const here = moved.current ? current : Number(target.dataset.index);
    const page = Math.max(1, Math.floor(window.innerHeight / rowHeight) - 3);
    const steps: Record<string, number> = { ArrowDown: here + 1, j: here + 1, ArrowUp: here - 1, k: here - 1, PageDown: here + page, PageUp: here - page, Home: 0, End: total - 1 };
    const to = steps[event.key];
    const job = at(here);
    if (to !== undefined) {
      go(to);
      if (event.shiftKey && event.key.startsWith('Arrow')) {
        anchor.current ??= { row: here, name: job?.name };
        const end = Math.max(0, Math.min(total - 1, to));
        onSelectTo(end, at(end)?.name);
      }
    } else if (event.key === ' ' || event.key === 'x') select(here, event.shiftKey);
    else if (event.key === 'Enter' && job) router.history.push(`/jobs/${job.name}`);
    else return;
    event.preventDefault();
  };

  const ages = useRef(new RowAges());
  const inRows = drawnRows(rows, at);
  useEffect(() => ages.current.draw(inRows, performance.now()));
  const stop = tabStop(inRows, current);
  const drawn = [];
  const Row = phone ? JobCard : JobRow;
  for (const { row, job } of inRows) {
    if (!job) {
      // Not a valid job name.
      drawn.push(<div key={`#${row}`} className={classes.ghost} aria-hidden="true" style={{ transform: `translateY(${row * rowHeight}px)` }} />);
      continue;
    }
    drawn.push(
      <Row key={job.name} job={job} row={row} top={row * rowHeight} shown={shown} selected={selection.has(job.name)} current={row === stop} mayRun={acts.mayRun(job)} menuOpen={menu?.job.name === job.name} />,
    );
  }
  const sort = (order: JobOrder) => onSort(sortedBy(filter.sort, order));

  return (
    <>
      {partial && <PartialNotice />}
      {error && <ProblemNotice error={error} />}
      <div
        ref={frameRef} role="grid" className={classes.frame} aria-label={t('jobs.table')} aria-rowcount={total + 1} aria-multiselectable="true" aria-busy={busy}
        style={{ '--columns': templateOf(shown), '--row-height': `${rowHeight}px` } as object}
      >
        <div role="rowgroup" className={phone ? 'unseen' : undefined} style={phone ? undefined : { display: 'contents' }}>
          <div role="row" aria-rowindex={1} className={classes.head}>
            <span role="columnheader" className={classes.box}>
              <input type="checkbox" ref={(box) => void (box && (box.indeterminate = picked === 'some'))} aria-label={t('jobs.selectAll', { count: total })} checked={picked === 'all'} onChange={onSelectAll} />
            </span>
            <Head name={t('jobs.name')} order="name" sorted={filter.sort} onSort={sort} />
            {!phone && shown.map((id) => <Head key={id} name={t(`jobs.${names[id]}`)} order={columns[id].order} sorted={filter.sort} onSort={sort} />)}
            <span role="columnheader"><span className="unseen">{t('common.actions')}</span></span>
          </div>
        </div>
        <div ref={list} role="rowgroup" className={classes.list} data-busy={busy || undefined} style={{ height: total * rowHeight }} onClick={click} onKeyDown={press}>
          {drawn}
        </div>
        {menu && <JobMenu {...menu} acts={acts} onClose={closeMenu} />}
      </div>
    </>
  );
}

function Head({ name, order, sorted, onSort }: { name: string; order?: JobOrder | undefined; sorted: JobSort | undefined; onSort: (order: JobOrder) => void }) {
  const now = sorted ?? 'name';
  if (!order) return <span role="columnheader">{name}</span>;
  const on = now.replace(/^-/, '') === order;
  return (
    <span role="columnheader" aria-sort={on ? (now.startsWith('-') ? 'descending' : 'ascending') : 'none'}>
      <button type="button" className={classes.sort} data-on={on || undefined} onClick={() => onSort(order)}>
        {name}
        {on && <span className={classes.arrow} data-up={now.startsWith('-') ? undefined : ''}><Icon name="down" size={12} /></span>}
      </button>
    </span>
  );
}
