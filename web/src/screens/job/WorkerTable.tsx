import { useTranslation } from 'react-i18next';
import type { Statistics } from '../../api/types.ts';
import { formatMs, formatRate } from '../../lib/figures.ts';
import { PlainText } from '../../parts/PlainText.tsx';
import classes from './StatisticsPanel.module.css';

/** The same statistics by worker, which shows slow or failing ones. */
export function WorkerTable({ workers }: { workers: NonNullable<Statistics['workers']> }) {
  const { t, i18n } = useTranslation();
  const number = new Intl.NumberFormat(i18n.language);
  return (
    <div className={classes.scroll} tabIndex={0} role="region" aria-label={t('statistics.byWorker')}>
      <table className={classes.table}>
        <caption className={classes.caption}>{t('statistics.byWorker')}</caption>
        <thead>
          <tr>
            <th scope="col">{t('runs.worker')}</th>
            <th scope="col">{t('statistics.attempts')}</th>
            <th scope="col">{t('statistics.attemptRate')}</th>
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
              <td>{worker.duration.count > 0 ? formatMs(worker.duration.p50Ms, i18n.language) : '–'}</td>
              <td>{worker.duration.count > 0 ? formatMs(worker.duration.p95Ms, i18n.language) : '–'}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
