import { Group, NativeSelect, SegmentedControl } from '@mantine/core';
import { useMemo, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { rangeForAge, useJobStatistics } from '../../api/statistics.ts';
import type { Job, Statistics } from '../../api/types.ts';
import { formatBytes } from '../../lib/bytes.ts';
import { formatSeconds } from '../../lib/duration.ts';
import { endings, formatMs, formatRate, totalOf } from '../../lib/figures.ts';
import { statisticsRanges, type StatisticsRange } from '../../lib/searchParams.ts';
import { formatDay, formatTime } from '../../lib/time.ts';
import { visible } from '../../lib/visible.ts';
import { LineChart, type ChartSeries } from '../../parts/charts/index.tsx';
import { Figure, Figures as KeyFigures } from '../../parts/Figures.tsx';
import { Panel } from '../../parts/Panel.tsx';
import { ProblemNotice } from '../../parts/ProblemNotice.tsx';
import { StatusBadge } from '../../parts/StatusBadge.tsx';
import { Waiting } from '../../parts/Waiting.tsx';
import { Calendar } from './Calendar.tsx';
import classes from './StatisticsPanel.module.css';
import { WorkerTable } from './WorkerTable.tsx';

interface Shown {
  range?: StatisticsRange;
  step?: string;
}

/** Above this number of steps the server keeps no figures of single steps. */
const mostSteps = 500;

/** Returns the steps of a flow with figures of their own: a job that a step runs has a page with its figures, and joins take no time. */
const stepsWithFigures = (steps: Job['steps'] = []) => (steps.length > mostSteps ? [] : steps.filter(({ job, approval, join }) => !job && !approval && !join));

/** Statistics of a job's fires, or of those of a step of a flow: outcomes, durations, and start delays over time. */
export function StatisticsPanel({ job, step: opened, range: chosen, onShow }: { job: Job; step: string | undefined; range: StatisticsRange | undefined; onShow: (shown: Shown) => void }) {
  const { t } = useTranslation();
  const [fitting] = useState(() => rangeForAge(job.meta.createdAt, Date.now()));
  const range = chosen ?? fitting;
  const steps = stepsWithFigures(job.steps);
  const step = steps.find(({ name }) => name === opened)?.name;
  const statistics = useJobStatistics(step === undefined ? job.name : `${job.name}:${step}`, range);
  const show = (next: Shown) => onShow({ ...(chosen && { range: chosen }), ...(step !== undefined && { step }), ...next });
  return (
    <Panel
      title={t('statistics.title')}
      side={
        <Group gap="xs">
          {steps.length > 0 && (
            <NativeSelect
              size="xs" aria-label={t('flowRun.statisticsOf')} value={step ?? ''} onChange={(event) => onShow({ ...(chosen && { range: chosen }), ...(event.currentTarget.value !== '' && { step: event.currentTarget.value }) })}
              data={[{ value: '', label: t('flowRun.wholeFlow') }, ...steps.map(({ name, title }) => ({ value: name, label: visible(title ?? name) }))]}
            />
          )}
          <SegmentedControl
            size="xs" aria-label={t('statistics.range')} value={range} onChange={(value) => show({ range: value as StatisticsRange })}
            data={statisticsRanges.map((value) => ({ value, label: t(`statistics.ranges.${value}`) }))}
          />
        </Group>
      }
    >
      {statistics.error && !statistics.data && <ProblemNotice error={statistics.error} onRetry={() => void statistics.refetch()} />}
      {!statistics.data && !statistics.error && <Waiting rows={6} />}
      {statistics.data && (totalOf(statistics.data.total.statuses) === 0 ? <p className="dim">{t('statistics.nothing')}</p> : <Figures job={job.name} statistics={statistics.data} />)}
    </Panel>
  );
}

function useCharts({ buckets }: Statistics) {
  const { t } = useTranslation();
  return useMemo(() => {
    const line = (id: string, name: string, values: (number | null | undefined)[], more: Partial<ChartSeries> = {}): ChartSeries => ({ id, name, values, tone: 'live', ...more });
    const times = (of: 'duration' | 'delay', pick: 'p50Ms' | 'p95Ms' | 'p99Ms' | 'maxMs') => buckets.map((bucket) => (bucket[of].count > 0 ? bucket[of][pick] : null));
    const ends = endings.map(({ status, tone }) => line(status, t(`status.${status}`), buckets.map(({ statuses }) => statuses[status]), { tone, kind: 'bars' }));
    return {
      times: buckets.map((bucket) => Date.parse(bucket.at)),
      // Outcomes without occurrences need no place in the legend.
      ends: ends.filter(({ values }) => values.some((value) => (value ?? 0) > 0)),
      durations: [
        line('max', t('statistics.lines.max'), times('duration', 'maxMs'), { tone: 'idle', dashed: true }),
        line('p95', t('statistics.lines.p95'), times('duration', 'p95Ms'), { dashed: true, downTo: 'p50' }),
        line('p50', t('statistics.lines.p50'), times('duration', 'p50Ms')),
      ],
      delays: [line('p95', t('statistics.lines.p95'), times('delay', 'p95Ms'), { dashed: true, downTo: 'p50' }), line('p50', t('statistics.lines.p50'), times('delay', 'p50Ms'))],
      cpu: [line('cpu', t('usage.cpuTime'), buckets.map(({ cpuSeconds }) => (cpuSeconds === undefined ? null : cpuSeconds * 1000)), { kind: 'bars' })],
      memory: [line('memory', t('usage.peak'), buckets.map(({ maxMemoryBytes }) => maxMemoryBytes ?? null))],
      storage: [line('read', t('usage.read'), buckets.map(({ readBytes }) => readBytes ?? null), { kind: 'bars' }), line('written', t('usage.written'), buckets.map(({ writtenBytes }) => writtenBytes ?? null), { kind: 'bars', tone: 'warn' })],
      rate: [line('rate', t('statistics.successRate'), buckets.map((bucket) => bucket.successRate), { tone: 'ok', kind: 'area' })],
    };
  }, [buckets, t]);
}

function Figures({ job, statistics }: { job: string; statistics: Statistics }) {
  const { t, i18n } = useTranslation();
  const number = new Intl.NumberFormat(i18n.language);
  const { total, buckets, by, timezone } = statistics;
  const charts = useCharts(statistics);
  const when = (time: number) => (by === 'day' ? formatDay(new Date(time).toISOString(), i18n.language, timezone) : formatTime(new Date(time).toISOString(), i18n.language));
  const common = { times: charts.times, when, whenName: t(by === 'day' ? 'statistics.day' : 'statistics.hour'), timeZone: timezone, sync: 'job' };
  const took = (ms: number) => (total.duration.count > 0 ? formatMs(ms, i18n.language) : '–');
  return (
    <div className={classes.stack}>
      <KeyFigures>
        <Figure name={t('statistics.successRate')} value={formatRate(total.successRate, i18n.language)} />
        <Figure name={t('statistics.fires')} value={number.format(total.fires)} />
        {total.statuses.skipped > 0 && <Figure name={t('statistics.skipped')} value={`${formatRate(total.statuses.skipped / total.fires, i18n.language)} · ${number.format(total.statuses.skipped)}`} />}
        {total.retries > 0 && <Figure name={t('statistics.retries')} value={t('statistics.ofAttempts', { retries: number.format(total.retries), runs: number.format(total.runs) })} />}
        <Figure name={t('statistics.p50')} value={took(total.duration.p50Ms)} />
        <Figure name={t('statistics.p95')} value={took(total.duration.p95Ms)} />
        <Figure name={t('statistics.p99')} value={took(total.duration.p99Ms)} />
        <Figure name={t('statistics.longest')} value={took(total.duration.maxMs)} />
        <Figure name={t('statistics.delay95')} value={total.delay.count > 0 ? formatMs(total.delay.p95Ms, i18n.language) : '–'} />
        {total.cpuSeconds !== undefined && <Figure name={t('usage.cpuTime')} value={formatSeconds(total.cpuSeconds, i18n.language)} beside={total.runs > 0 && t('usage.perAttempt', { time: formatSeconds(total.cpuSeconds / total.runs, i18n.language) })} />}
        {total.maxMemoryBytes !== undefined && <Figure name={t('usage.peak')} value={formatBytes(total.maxMemoryBytes)} />}
      </KeyFigures>
      <ul className={classes.legend}>
        {endings.map(({ status }) => total.statuses[status] > 0 && <li key={status}><StatusBadge status={status} /> {number.format(total.statuses[status])}</li>)}
      </ul>
      {by === 'day' && buckets.length > 14 && <Calendar job={job} days={buckets} timezone={timezone} />}
      <div className={classes.pair}>
        <LineChart {...common} label={t(by === 'day' ? 'statistics.endedByDay' : 'statistics.endedByHour')} series={charts.ends} unit="count" stacked />
        <LineChart {...common} label={t('statistics.rate')} series={charts.rate} unit="share" />
        {total.duration.count > 0 && <LineChart {...common} label={t('statistics.duration')} series={charts.durations} unit="ms" />}
        {total.delay.count > 0 && <LineChart {...common} label={t('statistics.delay')} series={charts.delays} unit="ms" />}
        {total.cpuSeconds !== undefined && <LineChart {...common} label={t(by === 'day' ? 'usage.cpuByDay' : 'usage.cpuByHour')} series={charts.cpu} unit="ms" />}
        {total.maxMemoryBytes !== undefined && <LineChart {...common} label={t(by === 'day' ? 'usage.memoryByDay' : 'usage.memoryByHour')} series={charts.memory} unit="bytes" />}
        {(total.readBytes !== undefined || total.writtenBytes !== undefined) && <LineChart {...common} label={t(by === 'day' ? 'usage.storageByDay' : 'usage.storageByHour')} series={charts.storage} unit="bytes" stacked />}
      </div>
      {statistics.workers && statistics.workers.length > 0 && <WorkerTable workers={statistics.workers} />}
      <p className="small dim">{t('statistics.about', { zone: timezone })}</p>
    </div>
  );
}
