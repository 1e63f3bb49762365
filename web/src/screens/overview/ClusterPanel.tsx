import { Link } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { useMasters } from '../../api/masters.ts';
import type { components } from '../../api/schema.gen.ts';
import type { Master } from '../../api/types.ts';
import { Facts } from '../../parts/Facts.tsx';
import { Filled, slot } from '../../parts/Filled.tsx';
import { MasterName } from '../../parts/MasterName.tsx';
import { Panel } from '../../parts/Panel.tsx';
import { TimeText } from '../../parts/TimeText.tsx';
import classes from './ClusterPanel.module.css';

/** The masters, which one is elected, whether the history is available, and the number of jobs. */
export function ClusterPanel({ overview: { logStore, jobs } }: { overview: components['schemas']['Overview'] }) {
  const { t, i18n } = useTranslation();
  const masters = useMasters().data?.items;
  const number = new Intl.NumberFormat(i18n.language);
  return (
    <Panel title={t('overview.cluster')}>
      <Facts
        entries={[
          [t('overview.masters'), masters && <Masters masters={masters} />],
          [t('overview.logStore'), <span key="store" data-log-store={logStore}>{logStore === 'ok' ? t('overview.logStoreOk') : t('overview.logStoreAway')}</span>],
          [t('overview.jobs'), <Link key="jobs" to="/jobs">{[number.format(jobs.total), jobs.paused > 0 && t('overview.jobsPaused', { count: jobs.paused }), jobs.unreadable > 0 && t('overview.unreadable', { count: jobs.unreadable })].filter(Boolean).join(' · ')}</Link>],
        ]}
      />
    </Panel>
  );
}

function Masters({ masters }: { masters: readonly Master[] }) {
  const { t } = useTranslation();
  return (
    <ul className={classes.masters}>
      {masters.map((master) => (
        <li key={master.id} data-master={master.address}>
          <MasterName master={master} />
          {master.leadsSince && <span className="small dim"><Filled text={t('overview.leads', { at: slot })}><TimeText at={master.leadsSince} /></Filled></span>}
        </li>
      ))}
      {!masters.some((master) => master.leadsSince) && <li className="dim">{t('overview.noLeader')}</li>}
    </ul>
  );
}
