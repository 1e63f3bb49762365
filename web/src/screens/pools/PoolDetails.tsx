import { Link } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { usePool } from '../../api/pools.ts';
import { visible } from '../../lib/visible.ts';
import { ProblemNotice } from '../../parts/ProblemNotice.tsx';
import { RelativeTime } from '../../parts/TimeText.tsx';
import { UsedByJobs } from '../../parts/UsedByJobs.tsx';
import { Waiting } from '../../parts/Waiting.tsx';

/** The runs that have slots of a pool, the fires that wait for them, and the jobs that use it. */
export function PoolDetails({ name }: { name: string }) {
  const { t } = useTranslation();
  const pool = usePool(name);
  if (pool.error && !pool.data) return <ProblemNotice error={pool.error} onRetry={() => void pool.refetch()} />;
  if (!pool.data) return <Waiting rows={2} />;
  const { holders, queue, waiting, jobs, usedBy } = pool.data;
  return (
    <div className="small">
      <p>{holders.length === 0 ? t('pools.noHolders') : t('pools.holders')}</p>
      {holders.length > 0 && (
        <ul aria-label={t('pools.holdersOf', { name: visible(name) })}>
          {holders.map(({ job, run, slots }) => (
            <li key={run}><Link to="/runs/$id" params={{ id: run }} className="break">{visible(job)}</Link> <span className="dim">{t('pools.slotCount', { count: slots })}</span></li>
          ))}
        </ul>
      )}
      <p>{waiting === 0 ? t('pools.noQueue') : t('pools.queue')}</p>
      {waiting > 0 && (
        <ol aria-label={t('pools.queueOf', { name: visible(name) })}>
          {queue.map(({ job, run, since, priority }) => (
            <li key={run ?? job}>
              {run ? <Link to="/runs/$id" params={{ id: run }} className="break">{visible(job)}</Link> : <Link to="/jobs/$name" params={{ name: job }} className="break">{visible(job)}</Link>}{' '}
              <span className="dim">{t('pools.priority', { priority })}</span> <RelativeTime at={since} />
            </li>
          ))}
        </ol>
      )}
      {waiting > queue.length && <p className="dim">{t('pools.moreWaiting', { count: waiting - queue.length })}</p>}
      {jobs > 0 && <UsedByJobs label={t('pools.usedBy', { name: visible(name) })} names={usedBy ?? []} count={jobs} />}
    </div>
  );
}
