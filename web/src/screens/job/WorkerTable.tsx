import { useTranslation } from 'react-i18next';
import type { Statistics } from '../../api/types.ts';
import { formatBytes } from '../../lib/bytes.ts';
import { formatSeconds } from '../../lib/duration.ts';
import { formatMs, formatRate } from '../../lib/figures.ts';
import { PlainText } from '../../parts/PlainText.tsx';
import classes from './StatisticsPanel.module.css';

/** The same statistics by worker, which shows slow or failing ones. */
export function WorkerTable({ workers }: { workers: NonNullable<Statistics['workers']> }) {
  const { t, i18n } = useTranslation();
  const number = new Intl.NumberFormat(i18n.language);
  const measured = workers.some(({ cpuSeconds }) => cpuSeconds !== undefined);
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
            {measured && <th scope="col">{t('usage.cpuTime')}</th>}
            {measured && <th scope="col">{t('usage.peak')}</th>}
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
              {measured && <td>{worker.cpuSeconds === undefined ? '–' : formatSeconds(worker.cpuSeconds, i18n.language)}</td>}
              {measured && <td>{worker.maxMemoryBytes === undefined ? '–' : formatBytes(worker.maxMemoryBytes)}</td>}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
