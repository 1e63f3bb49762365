import { useTranslation } from 'react-i18next';
import type { Worker } from '../../api/types.ts';
import { visible } from '../../lib/visible.ts';
import { JobLink } from '../../parts/JobName.tsx';
import classes from './WorkersPage.module.css';

/** The daemon jobs that a worker runs replicas of, those with the most replicas first. */
export function DaemonsOn({ worker }: { worker: Worker }) {
  const { t } = useTranslation();
  const jobs = Object.entries(worker.replicas ?? {}).sort(([a, n], [b, m]) => m - n || a.localeCompare(b));
  if (jobs.length === 0) return null;
  return (
    <>
      <h2 className={classes.part}>{t('workers.daemons')} <span className="small dim">{t('workers.daemonSlots', { count: worker.daemonSlots ?? 0 })}</span></h2>
      <ul className={classes.runs} aria-label={t('workers.daemonsOf', { name: visible(worker.name || worker.id) })}>
        {jobs.map(([job, count]) => (
          <li key={job} data-daemon={job}>
            <JobLink job={job} title={undefined} className={classes.runName} />
            <span className="small dim nowrap">{t('workers.replicas', { count })}</span>
          </li>
        ))}
      </ul>
    </>
  );
}
