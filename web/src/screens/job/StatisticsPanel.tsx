import { SegmentedControl } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { ranges, useJobStatistics, type StatisticsRange } from '../../api/statistics.ts';
import type { Statistics } from '../../api/types.ts';
import { endings, formatMs, formatRate, roundUp, totalOf } from '../../lib/figures.ts';
import { formatTime } from '../../lib/time.ts';
import { Bars, TimeBars } from '../../parts/Bars.tsx';
import { Panel } from '../../parts/Panel.tsx';
import { PlainText } from '../../parts/PlainText.tsx';
import { ProblemNotice } from '../../parts/ProblemNotice.tsx';
import { StatusBadge } from '../../parts/StatusBadge.tsx';
import { Waiting } from '../../parts/Waiting.tsx';
import classes from './StatisticsPanel.module.css';

/** How a job's runs went, over time: how they ended, how long they took, and how late they began. */
export function StatisticsPanel({ job, range, onRange }: { job: string; range: StatisticsRange; onRange: (range: StatisticsRange) => void }) {
  const { t } = useTranslation();
  const statistics = useJobStatistics(job, range);
  return (
    <Panel
      title={t('statistics.title')}
      side={
        <SegmentedControl
          size="xs" aria-label={t('statistics.range')} value={range} onChange={(value) => onRange(value as StatisticsRange)}
          data={(Object.keys(ranges) as StatisticsRange[]).map((value) => ({ value, label: t(`statistics.ranges.${value}`) }))}
        />
      }
    >
      {statistics.error && !statistics.data && <ProblemNotice error={statistics.error} onRetry={() => void statistics.refetch()} />}
      {!statistics.data && !statistics.error && <Waiting rows={6} />}
      {statistics.data && (totalOf(statistics.data.total.statuses) === 0 ? <p className="dim">{t('statistics.nothing')}</p> : <Figures statistics={statistics.data} />)}
    </Panel>
  );
}

function Figures({ statistics }: { statistics: Statistics }) {
  const { t, i18n } = useTranslation();
  const number = new Intl.NumberFormat(i18n.language);
  const { total, buckets, by, timezone } = statistics;
  const when = (at: string) => (by === 'day' ? new Intl.DateTimeFormat(i18n.language, { dateStyle: 'medium', timeZone: timezone }).format(new Date(at)) : formatTime(at, i18n.language));
  const counts = roundUp(Math.max(...buckets.map((bucket) => totalOf(bucket.statuses))));
  const longest = roundUp(Math.max(...buckets.map((bucket) => bucket.duration.p95Ms)));
  const latest = roundUp(Math.max(...buckets.map((bucket) => bucket.delay.p95Ms)));
  const first = buckets[0];
  const last = buckets.at(-1);
  const axis = first && last && (
    <div className={classes.axis} aria-hidden="true">
      <span>{when(first.at)}</span>
      <span>{when(last.at)}</span>
    </div>
  );
  return (
    <div className={classes.stack}>
      <dl className={classes.figures}>
        <Figure name={t('statistics.successRate')} value={formatRate(total.successRate, i18n.language)} />
        <Figure name={t('statistics.runs')} value={number.format(total.runs)} />
        <Figure name={t('statistics.p50')} value={total.duration.count > 0 ? formatMs(total.duration.p50Ms) : '–'} />
        <Figure name={t('statistics.p95')} value={total.duration.count > 0 ? formatMs(total.duration.p95Ms) : '–'} />
        <Figure name={t('statistics.p99')} value={total.duration.count > 0 ? formatMs(total.duration.p99Ms) : '–'} />
        <Figure name={t('statistics.longest')} value={total.duration.count > 0 ? formatMs(total.duration.maxMs) : '–'} />
        <Figure name={t('statistics.delay95')} value={total.delay.count > 0 ? formatMs(total.delay.p95Ms) : '–'} />
      </dl>
      <ul className={classes.legend}>
        {endings.map(({ status }) => total.statuses[status] > 0 && <li key={status}><StatusBadge status={status} /> {number.format(total.statuses[status])}</li>)}
      </ul>
      <figure className={classes.figure}>
        <figcaption>{t(by === 'day' ? 'statistics.endedByDay' : 'statistics.endedByHour')} <span className="dim">{t('statistics.top', { top: number.format(counts) })}</span></figcaption>
        <Bars label={t(by === 'day' ? 'statistics.endedByDay' : 'statistics.endedByHour')} top={counts} bars={buckets.map((bucket) => ({ id: bucket.at, counts: bucket.statuses, title: when(bucket.at) }))} />
        {axis}
      </figure>
      <div className={classes.pair}>
        {total.duration.count > 0 && <figure className={classes.figure}>
          <figcaption>{t('statistics.duration')} <span className="dim">{t('statistics.top', { top: formatMs(longest) })}</span></figcaption>
          <TimeBars
            label={t('statistics.duration')} top={longest}
            bars={buckets.map(({ at, duration }) => ({ id: at, p50: duration.p50Ms, p95: duration.p95Ms, title: `${when(at)}\n${formatMs(duration.p50Ms)} / ${formatMs(duration.p95Ms)}` }))}
          />
          {axis}
        </figure>}
        {total.delay.count > 0 && <figure className={classes.figure}>
          <figcaption>{t('statistics.delay')} <span className="dim">{t('statistics.top', { top: formatMs(latest) })}</span></figcaption>
          <TimeBars
            label={t('statistics.delay')} top={latest}
            bars={buckets.map(({ at, delay }) => ({ id: at, p50: delay.p50Ms, p95: delay.p95Ms, title: `${when(at)}\n${formatMs(delay.p50Ms)} / ${formatMs(delay.p95Ms)}` }))}
          />
          {axis}
        </figure>}
      </div>
      {statistics.workers && statistics.workers.length > 0 && <WorkerTable workers={statistics.workers} />}
      <details className={classes.details}>
        <summary>{t('statistics.table')}</summary>
        <div className={classes.scroll} tabIndex={0} role="region" aria-label={t('statistics.table')}>
          <table className={classes.table}>
            <caption className="unseen">{t('statistics.table')}</caption>
            <thead>
              <tr>
                <th scope="col">{t(by === 'day' ? 'statistics.day' : 'statistics.hour')}</th>
                {endings.map(({ status }) => <th key={status} scope="col">{t(`status.${status}`)}</th>)}
                <th scope="col">{t('statistics.p50')}</th>
                <th scope="col">{t('statistics.p95')}</th>
                <th scope="col">{t('statistics.delay95')}</th>
              </tr>
            </thead>
            <tbody>
              {[...buckets].reverse().map((bucket) => totalOf(bucket.statuses) > 0 && (
                <tr key={bucket.at}>
                  <th scope="row">{when(bucket.at)}</th>
                  {endings.map(({ status }) => <td key={status}>{number.format(bucket.statuses[status])}</td>)}
                  <td>{bucket.duration.count > 0 ? formatMs(bucket.duration.p50Ms) : '–'}</td>
                  <td>{bucket.duration.count > 0 ? formatMs(bucket.duration.p95Ms) : '–'}</td>
                  <td>{bucket.delay.count > 0 ? formatMs(bucket.delay.p95Ms) : '–'}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      </details>
      <p className="small dim">{t('statistics.about', { zone: timezone })}</p>
    </div>
  );
}

function Figure({ name, value }: { name: string; value: string }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{value}</dd>
    </div>
  );
}

function WorkerTable({ workers }: { workers: NonNullable<Statistics['workers']> }) {
  const { t, i18n } = useTranslation();
  const number = new Intl.NumberFormat(i18n.language);
  return (
    <div className={classes.scroll} tabIndex={0} role="region" aria-label={t('statistics.byWorker')}>
      <table className={classes.table}>
        <caption className={classes.caption}>{t('statistics.byWorker')}</caption>
        <thead>
          <tr>
            <th scope="col">{t('runs.worker')}</th>
            <th scope="col">{t('statistics.runs')}</th>
            <th scope="col">{t('statistics.successRate')}</th>
            <th scope="col">{t('statistics.p50')}</th>
            <th scope="col">{t('statistics.p95')}</th>
          </tr>
        </thead>
        <tbody>
          {workers.map((worker) => (
            <tr key={worker.worker}>
              <th scope="row"><PlainText>{worker.name ?? worker.worker}</PlainText></th>
              <td>{number.format(worker.runs)}</td>
              <td>{formatRate(worker.successRate, i18n.language)}</td>
              <td>{worker.duration.count > 0 ? formatMs(worker.duration.p50Ms) : '–'}</td>
              <td>{worker.duration.count > 0 ? formatMs(worker.duration.p95Ms) : '–'}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
