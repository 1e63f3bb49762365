import { Link } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import type { Worker } from '../../api/types.ts';
import { workerState } from '../../lib/workerState.ts';
import { Icon } from '../../parts/icons.tsx';
import classes from './Verdict.module.css';

/** No worker takes runs, so nothing starts. */
export function standsStill(workers: readonly Worker[]): boolean {
  return workers.every((worker) => workerState(worker) !== 'ready');
}

/** The top notice that nothing can run, with the reason. */
export function Standstill({ workers, waiting }: { workers: readonly Worker[]; waiting: number | undefined }) {
  const { t, i18n } = useTranslation();
  if (!standsStill(workers)) return null;
  const states = workers.map(workerState).filter((state) => state !== 'away');
  const why = states.length === 0 ? 'standsNoWorker' : states.every((state) => state === 'drained' || state === 'draining') ? 'standsDrained' : 'standsOther';
  return (
    <p className={classes.verdict} data-verdict="stands" role="status">
      <Icon name="warn" size={16} />
      <span>
        <strong>{t('overview.stands')}</strong> {t(`overview.${why}`)} {waiting !== undefined && waiting > 0 && t('overview.standsWaiting', { count: waiting, number: new Intl.NumberFormat(i18n.language).format(waiting) })}{' '}
        <Link to="/workers">{t('overview.standsLook')}</Link>
      </span>
    </p>
  );
}
