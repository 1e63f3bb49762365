import { useTranslation } from 'react-i18next';
import type { Worker } from '../../api/types.ts';
import { drainOf } from '../../lib/workerState.ts';
import classes from './WorkersPage.module.css';

/** Key figures of all workers. */
export function Cluster({ workers }: { workers: readonly Worker[] }) {
  const { t, i18n } = useTranslation();
  const alive = workers.filter((worker) => !worker.away);
  const number = new Intl.NumberFormat(i18n.language);
  const sum = (of: (worker: Worker) => number) => alive.reduce((all, worker) => all + of(worker), 0);
  const used = sum((worker) => worker.used);
  const slots = sum((worker) => worker.slots);
  const daemons = sum((worker) => worker.daemonSlots ?? 0);
  const counted = (state: ReturnType<typeof drainOf>) => alive.filter((worker) => drainOf(worker) === state).length;
  const draining = counted('draining');
  const drained = counted('drained');
  const stopping = counted('stopping');
  const troubled = alive.filter((worker) => worker.trouble).length;
  const away = workers.length - alive.length;
  return (
    <p className={classes.cluster}>
      <span>{t('workers.alive', { count: alive.length })}</span>
      <span>{t('workers.slotsUsed', { count: slots, used: number.format(used), slots: number.format(slots) })}</span>
      <span>{t('workers.running', { count: sum((worker) => worker.running) })}</span>
      {daemons > 0 && <span>{t('workers.daemonSlots', { count: daemons })}</span>}
      {draining > 0 && <strong className={classes.trouble}>{t('workers.areDraining', { count: draining })}</strong>}
      {drained > 0 && <strong className={classes.trouble}>{t('workers.areDrained', { count: drained })}</strong>}
      {stopping > 0 && <strong className={classes.trouble}>{t('workers.areStopping', { count: stopping })}</strong>}
      {troubled > 0 && <strong className={classes.trouble}>{t('workers.areTroubled', { count: troubled })}</strong>}
      {away > 0 && <span className="dim">{t('workers.areAway', { count: away })}</span>}
    </p>
  );
}
