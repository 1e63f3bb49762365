import type { TFunction } from 'i18next';
import { useState } from 'react';
import { useText } from '../i18n/useText.ts';
import type { Result } from '../api/types.ts';
import { endings, formatMs } from '../lib/figures.ts';
import { listed } from '../lib/lists.ts';
import { formatTime } from '../lib/time.ts';
import { PlainLink } from './PlainLink.tsx';
import classes from './Sparkline.module.css';

const most = 20;
const step = 5;
const width = 4;
const height = 20;
const lowest = 5;

function toneOf(status: Result['status']): string {
  return endings.find((e) => e.status === status)?.tone ?? 'live';
}

/** Height of a result: relative to the longest duration; low for fires that did not run, full for failures. */
function heightOf(result: Result, longest: number): number {
  if (toneOf(result.status) === 'bad') return height;
  if (result.durationMs === undefined) return result.status === 'running' ? height / 2 : lowest;
  return Math.max(lowest, (height - 2) * (longest > 0 ? Math.sqrt(result.durationMs / longest) : 0));
}

function summary(t: TFunction, language: string, results: readonly Result[]): string {
  const counts = new Map<Result['status'], number>();
  for (const { status } of results) counts.set(status, (counts.get(status) ?? 0) + 1);
  return listed([...counts].map(([status, n]) => `${t(`status.${status}`)} ${n}`), language);
}

interface Bar {
  result: Result;
  x: number;
  tall: number;
}

/** All bars of one tone are one path: a page of jobs has a thousand of them. */
function pathOf(bars: readonly Bar[]): string {
  return bars.map(({ x, tall }) => `M${x} ${height}v${-tall.toFixed(1)}h${width}V${height}z`).join('');
}

/**
 * The last results of a job as bars, newest on the right. It has a text for screen readers and links to the runs;
 * hovering over a bar shows its run.
 */
export function Sparkline({ job, results }: { job: string; results: readonly Result[] | undefined }) {
  const { t, language } = useText();
  const [near, setNear] = useState(false);
  if (!results || results.length === 0) return <span className="dim">{t('common.none')}</span>;
  const longest = Math.max(...results.map((r) => r.durationMs ?? 0));
  const bars = results.slice(0, most).reverse().map((result, i): Bar => ({ result, x: i * step, tall: heightOf(result, longest) }));
  const tones = [...new Set(bars.map(({ result }) => toneOf(result.status)))];
  return (
    <PlainLink href={`/runs?job=${job}`} className={classes.link} aria-label={t('jobs.resultsOf', { name: job, results: summary(t, language, results) })} onPointerEnter={() => setNear(true)} onPointerLeave={() => setNear(false)}>
      <svg className={classes.bars} viewBox={`0 0 ${most * step} ${height}`} width={most * step} height={height} aria-hidden="true" focusable="false" data-results={results.length}>
        <g transform={`translate(${(most - bars.length) * step} 0)`}>
          {tones.map((tone) => <path key={tone} data-tone={tone} d={pathOf(bars.filter(({ result }) => toneOf(result.status) === tone))} />)}
          {near && bars.map(({ result, x, tall }) => (
            <rect key={result.id} data-tone={toneOf(result.status)} data-result={result.status} x={x} y={height - tall} width={width} height={tall}>
              <title>{[t(`status.${result.status}`), formatTime(result.plannedAt, language), result.durationMs === undefined ? '' : formatMs(result.durationMs, language)].filter(Boolean).join(' · ')}</title>
            </rect>
          ))}
        </g>
      </svg>
    </PlainLink>
  );
}
