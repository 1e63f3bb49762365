import { Link } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { useSoon } from '../../api/overview.ts';
import { Panel } from '../../parts/Panel.tsx';
import { ProblemNotice } from '../../parts/ProblemNotice.tsx';
import { RelativeTime } from '../../parts/TimeText.tsx';
import { Waiting } from '../../parts/Waiting.tsx';
import classes from './rows.module.css';
import own from './SoonPanel.module.css';

const shown = 6;

/** What fires next. */
export function SoonPanel() {
  const { t } = useTranslation();
  const soon = useSoon(shown);
  const jobs = soon.data?.items.filter((job) => job.meta.nextFire !== undefined) ?? [];
  return (
    <Panel title={t('overview.soon')} side={<Link to="/ledger" search={{ status: 'planned', range: 'nextHour' }} className={classes.side}>{t('overview.all')}</Link>}>
      {soon.error && !soon.data && <ProblemNotice error={soon.error} onRetry={() => void soon.refetch()} />}
      {!soon.data && !soon.error && <Waiting rows={3} />}
      {soon.data && jobs.length === 0 && <p className={classes.calm}>{t('overview.soonNone')}</p>}
      {jobs.length > 0 && (
        <ol className={own.list} aria-label={t('overview.nextFires')} data-soon="">
          {jobs.map((job) => (
            <li key={job.name}>
              <Link to="/jobs/$name" params={{ name: job.name }} className="break">{job.name}</Link>
              <RelativeTime at={job.meta.nextFire ?? ''} zone={job.timezone} />
            </li>
          ))}
        </ol>
      )}
    </Panel>
  );
}
