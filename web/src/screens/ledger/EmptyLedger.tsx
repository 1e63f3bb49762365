import { Link } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import type { FireStatus } from '../../api/types.ts';
import { EmptyPage } from '../../parts/EmptyPage.tsx';
import { StatusBadge } from '../../parts/StatusBadge.tsx';
import classes from './LedgerPage.module.css';

const explained = ['succeeded', 'skipped', 'missed', 'lost', 'refused'] as const satisfies readonly FireStatus[];

/** Explains an empty ledger. */
export function EmptyLedger() {
  const { t } = useTranslation();
  return (
    <EmptyPage icon="calendar" title={t('ledger.emptyTitle')}>
      <p>{t('ledger.emptyText')}</p>
      <dl className={classes.statuses}>
        {explained.map((status) => (
          <div key={status}>
            <dt><StatusBadge status={status} /></dt>
            <dd>{t(`ledger.means.${status}`)}</dd>
          </div>
        ))}
      </dl>
      <Link to="/jobs">{t('runs.goToJobs')}</Link>
    </EmptyPage>
  );
}
