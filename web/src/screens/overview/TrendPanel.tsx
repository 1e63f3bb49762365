import { SegmentedControl } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { useMemo, useState, type ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { trends, useTrend, type Trend } from '../../api/overview.ts';
import { byTone, endings, formatRate, totalOf, type Ended } from '../../lib/figures.ts';
import { formatTime } from '../../lib/time.ts';
import { LineChart, type ChartSeries } from '../../parts/charts/index.tsx';
import { Panel } from '../../parts/Panel.tsx';
import { ProblemNotice } from '../../parts/ProblemNotice.tsx';
import { StatusBadge } from '../../parts/StatusBadge.tsx';
import { Waiting } from '../../parts/Waiting.tsx';
import classes from './TrendPanel.module.css';

const tones = ['ok', 'bad', 'warn', 'idle'] as const;

/** Outcomes and start delays over a day or a week; each number links to the counted items. */
export function TrendPanel({ away }: { away: boolean }) {
  const { t, i18n } = useTranslation();
  const [range, setRange] = useState<Trend>('day');
  const trend = useTrend(range);
  const { data } = trend;
  const number = new Intl.NumberFormat(i18n.language);
  const times = useMemo(() => data?.buckets.map((bucket) => Date.parse(bucket.at)) ?? [], [data]);
  const ends = useMemo(
    () => tones.map((tone): ChartSeries => ({ id: tone, tone, kind: 'bars', name: t(`overview.tones.${tone}`), values: data?.buckets.map(({ statuses }) => byTone(statuses).find((part) => part.tone === tone)?.count) ?? [] })),
    [data, t],
  );
  const delays = useMemo((): ChartSeries[] => {
    const values = (pick: 'p50Ms' | 'p95Ms') => data?.buckets.map(({ delay }) => (delay.count > 0 ? delay[pick] : null)) ?? [];
    return [
      { id: 'p95', tone: 'live', name: t('overview.p95'), values: values('p95Ms'), dashed: true, downTo: 'p50' },
      { id: 'p50', tone: 'live', name: t('overview.median'), values: values('p50Ms') },
    ];
  }, [data, t]);
  const when = (time: number) => formatTime(new Date(time).toISOString(), i18n.language);
  const empty = data && totalOf(data.total.statuses) === 0;

  return (
    <Panel
      title={t('overview.trend')}
      side={<SegmentedControl size="xs" aria-label={t('overview.trendRange')} value={range} onChange={(value) => setRange(value as Trend)} data={(Object.keys(trends) as Trend[]).map((value) => ({ value, label: t(`overview.${value}`) }))} />}
    >
      {away && <p className="small dim">{t('overview.trendAway')}</p>}
      {trend.error && !data && !away && <ProblemNotice error={trend.error} onRetry={() => void trend.refetch()} />}
      {!data && !trend.error && <Waiting rows={4} />}
      {empty && <p className="small dim">{t('overview.trendNone')}</p>}
      {data && !empty && (
        <>
          <ul className={classes.counts}>
            {data.total.successRate !== undefined && <li data-rate=""><strong>{t('overview.rate', { rate: formatRate(data.total.successRate, i18n.language) })}</strong></li>}
            {endings.map(({ status }) => data.total.statuses[status] > 0 && (
              <li key={status} data-count={status}>
                <Counted status={status} from={data.from}><StatusBadge status={status} /> {number.format(data.total.statuses[status])}</Counted>
              </li>
            ))}
            {data.total.retries > 0 && <li data-retries="" className="dim">{t('overview.retries', { retries: number.format(data.total.retries), runs: number.format(data.total.runs) })}</li>}
          </ul>
          <div className={classes.charts}>
            <LineChart label={t('overview.chartEnds')} times={times} series={ends} unit="count" stacked when={when} whenName={t('overview.hour')} sync="overview" />
            {data.total.delay.count > 0 && <LineChart label={t('overview.chartDelay')} times={times} series={delays} unit="ms" when={when} whenName={t('overview.hour')} sync="overview" />}
          </div>
        </>
      )}
    </Panel>
  );
}

/** Link to the counted fires. */
function Counted({ status, from, children }: { status: Ended; from: string; children: ReactNode }) {
  return <Link to="/ledger" search={{ status, range: 'custom', from }}>{children}</Link>;
}
