import { SegmentedControl } from '@mantine/core';
import { useMemo } from 'react';
import { useTranslation } from 'react-i18next';
import { usePastRuns } from '../../api/timeline.ts';
import type { Worker } from '../../api/types.ts';
import { useWorkerFigures } from '../../api/workers.ts';
import { formatBytes } from '../../lib/bytes.ts';
import { formatSeconds } from '../../lib/duration.ts';
import { loadRanges, type LoadRange } from '../../lib/searchParams.ts';
import { formatMs, formatRate } from '../../lib/figures.ts';
import { formatTime } from '../../lib/time.ts';
import { useNow } from '../../lib/useNow.ts';
import { LineChart } from '../../parts/charts/index.tsx';
import { Facts } from '../../parts/Facts.tsx';
import { Panel } from '../../parts/Panel.tsx';
import { ProblemNotice } from '../../parts/ProblemNotice.tsx';
import { Waiting } from '../../parts/Waiting.tsx';
import { CostTable } from './CostTable.tsx';
import { costliest, loadOf } from './load.ts';
import classes from './WorkersPage.module.css';

const costsShown = 5;
const minute = 60_000;
const hour = 60 * minute;
const lengths: Record<LoadRange, { ms: number; step: number }> = { '6h': { ms: 6 * hour, step: 5 * minute }, '24h': { ms: 24 * hour, step: 15 * minute }, '3d': { ms: 72 * hour, step: hour } };

const some = (values: readonly (number | null)[]) => values.some((value) => value !== null && value > 0);

/** Load of a worker, outcomes of its runs, and what they have used. */
export function LoadPanel({ worker, range, onRange }: { worker: Worker; range: LoadRange; onRange: (range: LoadRange) => void }) {
  const { t, i18n } = useTranslation();
  const now = useNow(minute);
  const { ms, step } = lengths[range];
  const to = Math.ceil(now / step) * step;
  const from = to - ms;
  // Runs that started earlier may reach into it.
  const past = usePastRuns({ worker: worker.id }, { from: from - Math.min(ms, 6 * hour), to }, true);
  const load = useMemo(() => past.data && loadOf(past.data.runs, from, to, step, now, past.data.completeFrom), [past.data, from, to, step, now]);
  const costs = useMemo(() => costliest(past.data?.runs ?? [], from, costsShown), [past.data, from]);
  const figures = useWorkerFigures().data?.find((one) => one.worker === worker.id);
  // The slots are a line of the chart only where it does not flatten the other one.
  const peak = Math.max(0, ...(load?.busy ?? []).map((n) => n ?? 0));
  const limit = worker.slots <= 2 * peak && [{ id: 'slots', name: t('workers.slots'), values: load?.times.map(() => (worker.away ? null : worker.slots)) ?? [], tone: 'idle' as const, dashed: true }];
  const when = (time: number) => formatTime(new Date(time).toISOString(), i18n.language);
  const common = { times: load?.times ?? [], when, whenName: t('workers.time'), sync: 'worker' };
  return (
    <Panel
      title={t('workers.loadTitle')}
      side={
        <SegmentedControl size="xs" aria-label={t('workers.loadRange')} value={range} onChange={(value) => onRange(value as LoadRange)} data={loadRanges.map((value) => ({ value, label: t(`workers.ranges.${value}`) }))} />
      }
    >
      {past.error && !past.data && <ProblemNotice error={past.error} onRetry={() => void past.refetch()} />}
      {!past.data && !past.error && <Waiting rows={4} />}
      {figures && (
        <Facts entries={[
          [t('workers.dayRuns'), new Intl.NumberFormat(i18n.language).format(figures.runs)], [t('statistics.attemptRate'), formatRate(figures.successRate, i18n.language)],
          [t('statistics.p50'), figures.duration.count > 0 && formatMs(figures.duration.p50Ms, i18n.language)], [t('statistics.p95'), figures.duration.count > 0 && formatMs(figures.duration.p95Ms, i18n.language)],
          [t('usage.cpuTime'), figures.cpuSeconds !== undefined && formatSeconds(figures.cpuSeconds, i18n.language)], [t('usage.peak'), figures.maxMemoryBytes !== undefined && formatBytes(figures.maxMemoryBytes)],
          [t('usage.read'), figures.readBytes !== undefined && formatBytes(figures.readBytes)], [t('usage.written'), figures.writtenBytes !== undefined && formatBytes(figures.writtenBytes)],
          [t('statistics.delay95'), figures.delay.count > 0 && formatMs(figures.delay.p95Ms, i18n.language)],
        ]} />
      )}
      {load && past.data && (
        <div className={classes.charts}>
          <LineChart
            {...common} label={t('workers.busy')} unit="count"
            series={[{ id: 'busy', name: t('workers.atOnce'), values: load.busy, tone: 'live', kind: 'area' }, ...(limit || [])]}
          />
          <LineChart
            {...common} label={t('workers.endings')} unit="count" stacked
            series={[{ id: 'well', name: t('status.succeeded'), values: load.well, tone: 'ok', kind: 'bars' }, { id: 'badly', name: t('workers.otherwise'), values: load.badly, tone: 'bad', kind: 'bars' }]}
          />
          {past.data.completeFrom !== undefined && past.data.completeFrom > from && <p className={classes.calm}>{t('workers.truncated', { time: when(past.data.completeFrom) })}</p>}
          {costs.length > 0 && (
            <div className={classes.costs} data-costs="">
              <LineChart {...common} label={t('usage.cpuTime')} unit="ms" series={[{ id: 'cpu', name: t('usage.cpuTime'), values: load.cpuMs, tone: 'live', kind: 'bars' }]} />
              {some(load.memory) && <LineChart {...common} label={t('usage.peak')} unit="bytes" series={[{ id: 'memory', name: t('usage.peak'), values: load.memory.map((bytes) => bytes || null), tone: 'live' }]} />}
              {(some(load.read) || some(load.written)) && <LineChart
                {...common} label={t('usage.storageTotal')} unit="bytes" stacked
                series={[{ id: 'read', name: t('usage.read'), values: load.read, tone: 'live', kind: 'bars' }, { id: 'written', name: t('usage.written'), values: load.written, tone: 'warn', kind: 'bars' }]}
              />}
            </div>
          )}
          {costs.length > 0 && <CostTable costs={costs} />}
          {costs.length > 0 && <p className={classes.calm}>{t('usage.aboutLoad')}</p>}
        </div>
      )}
    </Panel>
  );
}
