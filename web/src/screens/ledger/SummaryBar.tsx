import { Link } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import type { Statistics } from '../../api/types.ts';
import { endings, roundUp, totalOf } from '../../lib/figures.ts';
import { formatDay, formatTime } from '../../lib/time.ts';
import { Bars } from '../../parts/Bars.tsx';
import { ChartTable } from '../../parts/ChartTable.tsx';
import { statusesOf, type LedgerSearch } from './ranges.ts';
import classes from './SummaryBar.module.css';

/** Outcomes of the listed period by hour or day; each links to its fires. */
export function SummaryBar({ statistics, search, onNarrow }: { statistics: Statistics; search: LedgerSearch; onNarrow: (search: LedgerSearch) => void }) {
  const { t, i18n } = useTranslation();
  const { buckets, by, timezone, to } = statistics;
  const number = new Intl.NumberFormat(i18n.language);
  const when = (at: string) => (by === 'day' ? formatDay(at, i18n.language, timezone) : formatTime(at, i18n.language));
  const iso = (at: string) => new Date(at).toISOString().replace('.000Z', 'Z');
  const narrowed = (i: number): LedgerSearch => ({ ...search, range: 'custom', from: iso(buckets[i]?.at ?? ''), to: iso(buckets[i + 1]?.at ?? to) });
  const label = t(by === 'day' ? 'ledger.byDay' : 'ledger.byHour');
  const bars = buckets.map((bucket) => ({ id: bucket.at, counts: bucket.statuses, title: when(bucket.at) }));
  return (
    <figure className={classes.figure} data-summary={by}>
      <Bars label={label} low top={roundUp(Math.max(...buckets.map((bucket) => totalOf(bucket.statuses))))} bars={bars} only={statusesOf(search)} onPick={(at) => onNarrow(narrowed(buckets.findIndex((bucket) => bucket.at === at)))} />
      <div className={classes.axis} aria-hidden="true">
        <span>{when(buckets[0]?.at ?? '')}</span>
        <span>{t('ledger.narrow')}</span>
        <span>{when(buckets.at(-1)?.at ?? '')}</span>
      </div>
      <ChartTable
        corner caption={label} head={[t(by === 'day' ? 'ledger.day' : 'overview.hour'), ...endings.map(({ status }) => t(`status.${status}`))]}
        rows={buckets.map((bucket, i) => ({
          id: bucket.at, cells: [<Link key="at" to="/ledger" search={narrowed(i)}>{when(bucket.at)}</Link>, ...endings.map(({ status }) => number.format(bucket.statuses[status]))],
        })).filter((_, i) => totalOf(buckets[i]?.statuses ?? statistics.total.statuses) > 0).reverse()}
      />
    </figure>
  );
}
