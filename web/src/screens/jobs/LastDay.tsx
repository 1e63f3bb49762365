import { Link } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { useOverview } from '../../api/overview.ts';
import { endings, formatRate, roundUp, totalOf } from '../../lib/figures.ts';
import { formatTime } from '../../lib/time.ts';
import { Bars } from '../../parts/Bars.tsx';
import { StatusBadge } from '../../parts/StatusBadge.tsx';
import classes from './LastDay.module.css';

/** What goes on, and what became of the fires of the last 24 hours; each number leads to what it counts. */
export function LastDay() {
  const { t, i18n } = useTranslation();
  const overview = useOverview().data;
  if (!overview) return null;
  const number = new Intl.NumberFormat(i18n.language);
  const day = overview.lastDay;
  const now = [
    { status: 'running' as const, count: overview.running },
    { status: 'waiting' as const, count: overview.waiting },
  ];
  const top = day ? roundUp(Math.max(...day.hours.map((hour) => totalOf(hour.statuses)))) : 1;
  return (
    <section className={classes.strip} aria-label={t('lastDay.title')} data-last-day="">
      <div className={classes.part}>
        <h2 className={classes.name}>{t('lastDay.now')}</h2>
        <ul className={classes.counts}>
          {now.map(({ status, count }) => count !== undefined && (
            <li key={status}><Link to="/runs" search={{ status }} className={classes.count}><StatusBadge status={status} /> {number.format(count)}</Link></li>
          ))}
        </ul>
      </div>
      {day && (
        <div className={classes.part}>
          <h2 className={classes.name}>{t('lastDay.day')}</h2>
          <ul className={classes.counts}>
            {endings.map(({ status }) => (status === 'succeeded' || day.total.statuses[status] > 0) && (
              <li key={status} data-count={status}>
                <Link to="/ledger" search={{ status, range: 'day' }} className={classes.count}><StatusBadge status={status} /> {number.format(day.total.statuses[status])}</Link>
              </li>
            ))}
          </ul>
        </div>
      )}
      {day && (
        <div className={classes.chart}>
          <Bars
            label={t('lastDay.chart', { rate: formatRate(day.total.successRate, i18n.language) })} top={top} low
            bars={day.hours.map((hour) => ({ id: hour.at, counts: hour.statuses, title: formatTime(hour.at, i18n.language) }))}
          />
        </div>
      )}
    </section>
  );
}
