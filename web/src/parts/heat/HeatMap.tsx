import { useRef, type KeyboardEvent, type PointerEvent } from 'react';
import { useTranslation } from 'react-i18next';
import classes from './HeatMap.module.css';
import type { HeatRow } from './rows.ts';
import { heatScale, levelOf, rangesOf } from './scale.ts';

interface Props {
  label: string;
  rows: readonly HeatRow[];
  /** The highest value of all days, so that a shade means the same on each of them. */
  top: number;
  /** Highlighted cells, by their time. */
  marked: ReadonlySet<number>;
  /** Rows with a clock change, by the time of the row. */
  changes: ReadonlySet<number>;
  chosen: number | undefined;
  onChoose: (at: number) => void;
  /** Called when the user opens the selected cell. */
  onOpen: (at: number) => void;
  /** Unit of the values. */
  unit: string;
}

const minute = 60_000;
const columns = 60;
const rowHeight = 10;

/** Hours as rows, their minutes as columns. The value of the selected cell is shown beside the map; the caller supplies the table. */
export function HeatMap({ label, rows, top, marked, changes, chosen, onChoose, onOpen, unit }: Props) {
  const { t } = useTranslation();
  const svg = useRef<SVGSVGElement>(null);
  const scale = heatScale(top);
  const cellAt = (event: PointerEvent): number | undefined => {
    const box = svg.current?.getBoundingClientRect();
    if (!box) return undefined;
    const column = Math.floor(((event.clientX - box.left) / box.width) * columns);
    const row = rows[Math.floor(((event.clientY - box.top) / box.height) * rows.length)];
    return row && column >= 0 && column < row.cells.length ? row.at + column * minute : undefined;
  };
  const move = (event: KeyboardEvent) => {
    const first = rows[0]?.at ?? 0;
    const last = (rows.at(-1)?.at ?? 0) + 59 * minute;
    const from = chosen ?? first;
    const to = { ArrowLeft: from - minute, ArrowRight: from + minute, ArrowUp: from - columns * minute, ArrowDown: from + columns * minute, Home: first, End: last }[event.key];
    if (event.altKey || event.ctrlKey || event.metaKey) return;
    if (event.key === 'Enter' && chosen !== undefined) onOpen(chosen);
    else if (to === undefined) return;
    else onChoose(chosen === undefined ? first : Math.min(last, Math.max(first, to)));
    event.preventDefault();
  };
  const place = (at: number) => {
    const row = rows.findIndex((r) => at >= r.at && at < r.at + columns * minute);
    return row < 0 ? undefined : { x: Math.round((at - (rows[row]?.at ?? 0)) / minute), y: row * rowHeight };
  };
  const ring = chosen === undefined ? undefined : place(chosen);
  return (
    <figure className={classes.figure}>
      <div className={classes.grid}>
        <div className={classes.hours} aria-hidden="true">
          {rows.map((row) => (
            <span key={row.at} data-change={changes.has(row.at)}>{row.clock}{row.offset !== '' && <small>{row.offset}</small>}</span>
          ))}
        </div>
        <div className={classes.map} role="application" tabIndex={0} aria-label={label} aria-describedby="heat-keys" onKeyDown={move} data-heat={rows.length}>
          <svg
            ref={svg} className={classes.svg} viewBox={`0 0 ${columns} ${Math.max(1, rows.length) * rowHeight}`} preserveAspectRatio="none" aria-hidden="true" style={{ '--rows': rows.length } as never}
            onPointerMove={(event) => {
              const at = event.pointerType === 'mouse' ? cellAt(event) : undefined;
              if (at !== undefined && at !== chosen) onChoose(at);
            }}
            onPointerUp={(event) => {
              const at = cellAt(event);
              if (at === undefined) return;
              if (event.pointerType === 'mouse') onOpen(at);
              else onChoose(at);
            }}
          >
            {rows.map((row, y) => (
              <g key={row.at}>
                {row.cells.map((value, x) => (
                  value === undefined
                    ? <rect key={x} className={classes.unknown} x={x} y={y * rowHeight} width={1} height={rowHeight} />
                    : value > 0 && <rect key={x} className={classes.cell} data-level={levelOf(value, scale)} x={x + 0.04} y={y * rowHeight + 0.6} width={0.92} height={rowHeight - 1.2} />
                ))}
              </g>
            ))}
            {[...marked].map((at) => {
              const where = place(at);
              return where && <rect key={at} className={classes.marked} data-marked={at} x={where.x} y={where.y} width={1} height={rowHeight} />;
            })}
            {ring && <rect className={classes.chosen} x={ring.x} y={ring.y} width={1} height={rowHeight} />}
          </svg>
        </div>
        <div className={classes.minutes} aria-hidden="true">{[0, 10, 20, 30, 40, 50].map((m) => <span key={m}>:{String(m).padStart(2, '0')}</span>)}</div>
      </div>
      <figcaption className={classes.legend}>
        <span>{unit}</span>
        {rangesOf(scale, top).map(({ level, from, to }) => (
          <span key={level} className={classes.key}>
            <span className={classes.swatch} data-level={level} aria-hidden="true" />
            {from === to ? from : `${from}–${to}`}
          </span>
        ))}
        <span className={classes.key}><span className={classes.swatch} data-marked="" aria-hidden="true" />{t('timeline.heat.piled')}</span>
        <span className={classes.key}><span className={classes.swatch} data-unknown="" aria-hidden="true" />{t('timeline.heat.over')}</span>
      </figcaption>
      <p id="heat-keys" className="unseen">{t('timeline.heat.keys')}</p>
    </figure>
  );
}
