import { lazy, Suspense, useId, useState, type KeyboardEvent, type ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { sentences } from '../../lib/lists.ts';
import { useScheme } from '../../lib/useScheme.ts';
import { ChartTable } from '../ChartTable.tsx';
import { formatValue, rangeOfValues, type ChartSeries, type Unit } from './data.ts';
import classes from './charts.module.css';

export type { ChartSeries, ChartTone, Unit } from './data.ts';

// The drawing code is loaded with the first chart.
const Plot = lazy(() => import('./Plot.tsx'));

interface Props {
  label: string;
  /** In milliseconds, oldest first. */
  times: readonly number[];
  series: readonly ChartSeries[];
  unit: Unit;
  /** Formats a time in full, for the legend and the table. */
  when: (time: number) => string;
  /** Header of the time column. */
  whenName: string;
  /** A value applies until the next one begins, not to an instant. */
  buckets?: boolean;
  /** Stacks each series on top of the previous ones. */
  stacked?: boolean;
  height?: number;
  timeZone?: string | undefined;
  sync?: string | undefined;
  /** Beside the label: a choice of range, a link. */
  side?: ReactNode;
}

/**
 * Values over time as lines, areas or bars, with a legend that shows the value under the pointer, and the data as a
 * table.
 */
export function LineChart({ label, times, series, unit, when, whenName, buckets = true, stacked = false, height = 150, timeZone, sync, side }: Props) {
  const { t, i18n } = useTranslation();
  const id = useId();
  const scheme = useScheme();
  const [picked, setPicked] = useState<number | undefined>();
  const write = (value: number | null | undefined) => formatValue(value, unit, i18n.language);
  const at = picked === undefined ? undefined : times[picked];
  const summaries = series.flatMap((one) => {
    const range = rangeOfValues(one);
    return range ? [t('charts.summary', { name: one.name, min: write(range.min), max: write(range.max), last: write(range.last) })] : [];
  });
  const move = (event: KeyboardEvent) => {
    const last = times.length - 1;
    const to = { ArrowLeft: (picked ?? last + 1) - 1, ArrowRight: (picked ?? -1) + 1, Home: 0, End: last }[event.key];
    if (to === undefined || event.altKey || event.ctrlKey || event.metaKey) return;
    event.preventDefault();
    setPicked(Math.min(last, Math.max(0, to)));
  };
  return (
    <figure className={classes.figure} aria-labelledby={id}>
      <figcaption className={classes.caption}>
        <span className={classes.label}>
          <span id={id}>{label}</span> <span className="dim">{at !== undefined && when(at)}</span>
        </span>
        {side}
      </figcaption>
      <div className={classes.frame} role="img" tabIndex={0} aria-label={sentences([label, ...summaries].map((said) => t('charts.said', { said })), i18n.language)} onKeyDown={move} onBlur={() => setPicked(undefined)}>
        <Suspense fallback={<div style={{ height }} />}>
          <Plot
            times={times} series={series} unit={unit} buckets={buckets} stacked={stacked} height={height} language={i18n.language}
            timeZone={timeZone} scheme={scheme} sync={sync} picked={picked} onPick={setPicked}
          />
        </Suspense>
      </div>
      <ul className={classes.legend} aria-live="polite">
        {series.map((one) => (
          <li key={one.id}>
            <span className={classes.mark} data-tone={one.tone} data-kind={one.kind ?? 'line'} data-dashed={one.dashed || undefined} aria-hidden="true" />
            {one.name}
            <strong>{picked !== undefined && write(one.values[picked])}</strong>
          </li>
        ))}
      </ul>
      <ChartTable
        corner caption={label} head={[whenName, ...series.map((one) => one.name)]}
        rows={times.map((time, i) => ({ id: String(time), cells: [when(time), ...series.map((one) => write(one.values[i]))] })).reverse()}
      />
    </figure>
  );
}
