import { useTranslation } from 'react-i18next';
import type { StatusCounts } from '../api/types.ts';
import { byTone, endings, totalOf, type Tone } from '../lib/figures.ts';
import classes from './Bars.module.css';

export interface CountBar {
  id: string;
  counts: StatusCounts;
  title: string;
}

const step = 10;

/** Counts over time as stacked bars, with outcomes that a filter leaves out pale on top: an image with a name; a table or a list beside it has the same data. */
export function Bars({ label, bars, top, low = false, only, onPick }: { label: string; bars: readonly CountBar[]; top: number; low?: boolean; only?: readonly string[]; onPick?: (id: string) => void }) {
  const { t } = useTranslation();
  return (
    <svg className={classes.chart} data-low={low} data-picks={onPick ? '' : undefined} viewBox={`0 0 ${Math.max(1, bars.length) * step} 100`} preserveAspectRatio="none" role="img" aria-label={label}>
      {bars.map((bar, i) => {
        let y = 100;
        const counted = endings.filter(({ status }) => bar.counts[status] > 0).map(({ status }) => `${t(`status.${status}`)} ${bar.counts[status]}`);
        return (
          <g key={bar.id} data-bar={totalOf(bar.counts)} onClick={onPick && (() => onPick(bar.id))}>
            <title>{[bar.title, ...counted].join('\n')}</title>
            <rect className={classes.room} x={i * step} y={0} width={step} height={100} />
            {partsOf(bar.counts, only).map(({ tone, count, pale }) => {
              // A single failure among thousands must be visible.
              const tall = count > 0 ? Math.max(2.5, (count / top) * 95) : 0;
              y -= tall;
              return count > 0 && <rect key={`${tone} ${pale}`} data-tone={tone} data-pale={pale || undefined} x={i * step + 1} y={y} width={step - 2} height={tall} />;
            })}
          </g>
        );
      })}
    </svg>
  );
}

function partsOf(counts: StatusCounts, only: readonly string[] | undefined): { tone: Tone; count: number; pale: boolean }[] {
  if (!only || only.length === 0) return byTone(counts).map((part) => ({ ...part, pale: false }));
  const some = (wanted: boolean) => Object.fromEntries(endings.map(({ status }) => [status, only.includes(status) === wanted ? counts[status] : 0])) as unknown as StatusCounts;
  return [false, true].flatMap((pale) => byTone(some(!pale)).map((part) => ({ ...part, pale })));
}

/** The counts in order. */
export function CountBars({ label, bars, top }: { label: string; bars: readonly { id: string; count: number; title: string }[]; top: number }) {
  return (
    <svg className={classes.chart} data-low="true" viewBox={`0 0 ${Math.max(1, bars.length) * step} 100`} preserveAspectRatio="none" role="img" aria-label={label}>
      {bars.map(({ id, count, title }, i) => {
        const tall = count > 0 ? Math.max(4, (count / top) * 100) : 0;
        return (
          <g key={id} data-bar={count}>
            <title>{title}</title>
            <rect className={classes.room} x={i * step} y={0} width={step} height={100} />
            {count > 0 && <rect data-tone="plan" x={i * step + 1} y={100 - tall} width={step - 2} height={tall} />}
          </g>
        );
      })}
    </svg>
  );
}
