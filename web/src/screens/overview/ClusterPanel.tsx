import { Link } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import type { components } from '../../api/schema.gen.ts';
import { visible } from '../../lib/visible.ts';
import { Facts } from '../../parts/Facts.tsx';
import { Panel } from '../../parts/Panel.tsx';
import { TimeText } from '../../parts/TimeText.tsx';

/** Who leads, whether the history is at hand, and how many jobs there are. */
export function ClusterPanel({ overview: { leader, logStore, jobs } }: { overview: components['schemas']['Overview'] }) {
  const { t, i18n } = useTranslation();
  const number = new Intl.NumberFormat(i18n.language);
  return (
    <Panel title={t('overview.cluster')}>
      <Facts
        entries={[
          [t('overview.leader'), leader ? <>{visible(leader.name)} <span className="small dim">{t('degraded.since')} <TimeText at={leader.since} /></span></> : t('overview.noLeader')],
          [t('overview.logStore'), <span key="store" data-log-store={logStore}>{logStore === 'ok' ? t('overview.logStoreOk') : t('overview.logStoreAway')}</span>],
          [t('overview.jobs'), <Link key="jobs" to="/jobs">{[number.format(jobs.total), jobs.paused > 0 && t('overview.jobsPaused', { count: jobs.paused }), jobs.unreadable > 0 && t('overview.unreadable', { count: jobs.unreadable })].filter(Boolean).join(' · ')}</Link>],
        ]}
      />
    </Panel>
  );
}
