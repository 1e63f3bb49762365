import { Link } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { isTerminal, useAttempts } from '../../api/runs.ts';
import type { Run } from '../../api/types.ts';
import { formatSeconds, secondsBetween } from '../../lib/duration.ts';
import { StatusBadge } from '../../parts/StatusBadge.tsx';
import classes from './RunPage.module.css';

/** The attempts of the run's fire, if there are several. */
export function AttemptsBar({ run }: { run: Run }) {
  const { t, i18n } = useTranslation();
  const attempts = useAttempts(run.fire, !isTerminal(run.status)).data ?? [];
  if (attempts.length < 2) return null;
  return (
    <nav aria-label={t('run.attempts')} className={classes.attempts} data-attempts="">
      {attempts.map((one) => {
        const took = secondsBetween(one.startedAt, one.endedAt);
        return (
          <Link key={one.id} to="/runs/$id" params={{ id: one.id }} search={{}} className={classes.attempt} aria-current={one.id === run.id ? 'page' : undefined}>
            <span>{t('run.attemptNumber', { n: one.attempt })}</span>
            <StatusBadge status={one.status} />
            {took !== undefined && <span className="small dim nowrap">{formatSeconds(took, i18n.language)}</span>}
          </Link>
        );
      })}
    </nav>
  );
}
