import { Link, useNavigate } from '@tanstack/react-router';
import { memo, useCallback, useMemo, useRef, useState, type FocusEvent, type KeyboardEvent } from 'react';
import { useTranslation } from 'react-i18next';
import type { Run } from '../../api/types.ts';
import { formatSeconds, secondsBetween } from '../../lib/duration.ts';
import { listed } from '../../lib/lists.ts';
import { formatTime } from '../../lib/time.ts';
import { Icon } from '../../parts/icons.tsx';
import { statusLooks } from '../../parts/statusLooks.ts';
import { heightOf, step, ticksOf, type Grid, type Place } from './grid.ts';
import classes from './RunsGrid.module.css';
import { RunCard, type Shown } from './RunCard.tsx';

// Number of columns per axis label.
const labelled = 4;
const minute = 60_000;

interface Props {
  grid: Grid;
  label: string;
  /** Called when the user goes further back than the loaded runs. */
  onOlder: (() => void) | undefined;
}

/** A job's runs as a grid: a column for each fire, its attempts below each other, its duration above. */
export function RunsGrid({ grid, label, onOlder }: Props) {
  const [shown, setShown] = useState<Shown | undefined>();
  const hide = useCallback(() => setShown(undefined), []);
  return (
    <div className={classes.frame} onScroll={hide} onMouseLeave={hide} data-grid="">
      <Cells grid={grid} label={label} onOlder={onOlder} onShow={setShown} />
      {shown && <RunCard shown={shown} />}
    </div>
  );
}

const Cells = memo(function Cells({ grid: { columns, rows, longest }, label, onOlder, onShow }: Props & { onShow: (shown: Shown | undefined) => void }) {
  const { t, i18n } = useTranslation();
  const navigate = useNavigate();
  const table = useRef<HTMLTableElement>(null);
  const last = columns.length - 1;
  // One tab stop with arrow keys inside: the position is remembered by fire, since columns are added on both sides.
  const [stop, setStop] = useState<{ fire: string; row: number } | undefined>();
  const found = stop ? columns.findIndex((column) => column.fire === stop.fire) : -1;
  const place: Place = found >= 0 && columns[found]?.runs[stop?.row ?? 0] ? { column: found, row: stop?.row ?? 0 } : { column: last, row: (columns[last]?.runs.length ?? 1) - 1 };
  const { day, time, ticks } = useMemo(() => {
    const dayFormat = new Intl.DateTimeFormat(i18n.language, { month: 'short', day: 'numeric' });
    const [first, last] = [columns[0], columns.at(-1)];
    const often = first && last && (Date.parse(last.plannedAt) - Date.parse(first.plannedAt)) / columns.length < minute;
    const timeFormat = new Intl.DateTimeFormat(i18n.language, { hour: '2-digit', minute: '2-digit', hourCycle: 'h23', ...(often && { second: '2-digit' }) });
    const day = (iso: string) => dayFormat.format(new Date(iso));
    return { day, time: (iso: string) => timeFormat.format(new Date(iso)), ticks: ticksOf(columns, day, labelled) };
  }, [columns, i18n.language]);

  const show = (run: Run, element: HTMLElement) => {
    const column = columns.find(({ fire }) => fire === run.fire);
    onShow({ run, of: column?.runs.length ?? 1, seconds: column?.seconds, at: element.getBoundingClientRect() });
  };
  const move = (event: KeyboardEvent) => {
    if (event.altKey || event.ctrlKey || event.metaKey) return;
    if (event.key === 'Escape') return onShow(undefined);
    const next = step(columns, place, event.key);
    const run = columns[next.column]?.runs[next.row];
    if (next.column <= 0 && (event.key === 'ArrowLeft' || event.key === 'Home' || event.key === 'PageUp')) onOlder?.();
    if (!run || !['ArrowLeft', 'ArrowRight', 'ArrowUp', 'ArrowDown', 'Home', 'End', 'PageUp', 'PageDown'].includes(event.key)) return;
    event.preventDefault();
    const cell = table.current?.querySelector<HTMLElement>(`[data-run="${CSS.escape(run.id)}"]`);
    cell?.focus();
    cell?.scrollIntoView({ block: 'nearest', inline: 'nearest' });
  };
  const focused = (event: FocusEvent, run: Run, row: number) => {
    setStop({ fire: run.fire, row });
    show(run, event.currentTarget as HTMLElement);
  };
  return (
    <table className={classes.grid} ref={table} onKeyDown={move}>
      <caption className="unseen">{label}</caption>
      <thead>
        <tr>
          <th scope="col"><span className="unseen">{t('grid.planned')}</span></th>
          {columns.map((column) => (
            <th key={column.fire} scope="col"><span className="unseen">{formatTime(column.plannedAt, i18n.language)}</span></th>
          ))}
        </tr>
      </thead>
      <tbody>
        {longest > 0 && (
          <tr className={classes.bars}>
            <th scope="row"><span className={classes.side}><span title={`${t('grid.fireDuration')} · ${t('grid.longest')}`}>{formatSeconds(longest, i18n.language)}</span></span><span className="unseen">{t('grid.fireDuration')}</span></th>
            {columns.map((column) => (
              <td key={column.fire} onMouseEnter={(event) => show(column.last, event.currentTarget)} onClick={() => void navigate({ to: '/runs/$id', params: { id: column.last.id } })}>
                {column.seconds !== undefined && (
                  <>
                    <span className={classes.bar} data-tone={statusLooks[column.last.status].tone} style={{ height: `${heightOf(column.seconds, longest) * 100}%` }} />
                    <span className="unseen">{formatSeconds(column.seconds, i18n.language)}</span>
                  </>
                )}
              </td>
            ))}
          </tr>
        )}
        {Array.from({ length: rows }, (_, row) => (
          <tr key={row}>
            <th scope="row"><span className={classes.side} aria-hidden="true">{rows > 1 && row + 1}</span><span className="unseen">{t('run.attemptNumber', { n: row + 1 })}</span></th>
            {columns.map((column, i) => {
              const run = column.runs[row];
              if (!run) return <td key={column.fire} />;
              const { tone, icon } = statusLooks[run.status];
              return (
                <td key={column.fire}>
                  <Link
                    to="/runs/$id" params={{ id: run.id }} preload={false} className={classes.cell} data-tone={tone} data-status={run.status} data-run={run.id} data-retried={row < column.runs.length - 1}
                    tabIndex={i === place.column && row === place.row ? 0 : -1}
                    aria-label={cellLabel(t('run.attemptNumber', { n: row + 1 }), t(`status.${run.status}`), formatTime(run.plannedAt, i18n.language), run, i18n.language)}
                    onMouseEnter={(event) => show(run, event.currentTarget)} onFocus={(event) => focused(event, run, row)} onBlur={() => onShow(undefined)}
                  >
                    <Icon name={icon} size={13} />
                  </Link>
                </td>
              );
            })}
          </tr>
        ))}
      </tbody>
      <tfoot aria-hidden="true">
        <tr>
          <td />
          {columns.map((column, i) => (
            <td key={column.fire}>{ticks.has(i) && <span className={classes.tick} data-tick={ticks.get(i)}>{ticks.get(i) === 'day' ? day(column.plannedAt) : time(column.plannedAt)}</span>}</td>
          ))}
        </tr>
      </tfoot>
    </table>
  );
});

function cellLabel(attempt: string, status: string, planned: string, run: Run, language: string): string {
  const seconds = secondsBetween(run.startedAt, run.endedAt);
  return listed([attempt, status, planned, seconds === undefined ? '' : formatSeconds(seconds, language)], language);
}
