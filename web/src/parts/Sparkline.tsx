import { Link } from '@tanstack/react-router';
import type { TFunction } from 'i18next';
import { useTranslation } from 'react-i18next';
import type { Result } from '../api/types.ts';
import { endings, formatMs } from '../lib/figures.ts';
import { formatTime } from '../lib/time.ts';
import classes from './Sparkline.module.css';

const most = 20;
const step = 5;
const width = 4;
const height = 20;
const lowest = 5;

function toneOf(status: Result['status']): string {
  return endings.find((e) => e.status === status)?.tone ?? 'live';
}

/** How high a result stands: as long as it took, going by the longest; what did not run is low, and what went wrong is as high as can be. */
function heightOf(result: Result, longest: number): number {
  if (toneOf(result.status) === 'bad') return height;
  if (result.durationMs === undefined) return result.status === 'running' ? height / 2 : lowest;
  return Math.max(lowest, (height - 2) * (longest > 0 ? Math.sqrt(result.durationMs / longest) : 0));
}

function summary(t: TFunction, results: readonly Result[]): string {
  const counts = new Map<Result['status'], number>();
  for (const { status } of results) counts.set(status, (counts.get(status) ?? 0) + 1);
  return [...counts].map(([status, n]) => `${t(`status.${status}`)} ${n}`).join(', ');
}

/** The last results of a job as bars, the newest on the right. It is told in words, too, and leads to its runs. */
export function Sparkline({ job, results }: { job: string; results: readonly Result[] | undefined }) {
  const { t, i18n } = useTranslation();
  if (!results || results.length === 0) return <span className="dim">{t('common.none')}</span>;
  const longest = Math.max(...results.map((r) => r.durationMs ?? 0));
  const shown = results.slice(0, most).reverse();
  return (
    <Link to="/runs" search={{ job }} className={classes.link} aria-label={t('jobs.resultsOf', { name: job, results: summary(t, results) })}>
      <svg className={classes.bars} viewBox={`0 0 ${shown.length * step} ${height}`} width={shown.length * step} height={height} aria-hidden="true" focusable="false" data-results={results.length}>
        {shown.map((result, i) => {
          const tall = heightOf(result, longest);
          return (
            <rect key={result.id} data-tone={toneOf(result.status)} data-result={result.status} x={i * step} y={height - tall} width={width} height={tall} rx={1}>
              <title>{[t(`status.${result.status}`), formatTime(result.plannedAt, i18n.language), result.durationMs === undefined ? '' : formatMs(result.durationMs)].filter(Boolean).join(' · ')}</title>
            </rect>
          );
        })}
      </svg>
    </Link>
  );
}
