import { Link } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { isTerminal, useAttempts } from '../../api/runs.ts';
import type { Run } from '../../api/types.ts';
import { Panel } from '../../parts/Panel.tsx';
import { PlainText } from '../../parts/PlainText.tsx';
import { StatusBadge } from '../../parts/StatusBadge.tsx';
import { TimeText } from '../../parts/TimeText.tsx';
import classes from './RunPage.module.css';

/** All attempts of the run's fire, where there is more than this one. */
export function AttemptsPanel({ run }: { run: Run }) {
  const { t } = useTranslation();
  const attempts = useAttempts(run.fire, !isTerminal(run.status)).data ?? [];
  if (attempts.length < 2) return null;
  return (
    <Panel title={t('run.attempts')}>
      <ol className={classes.attempts} data-attempts="">
        {attempts.map((one) => (
          <li key={one.id}>
            <Link to="/runs/$id" params={{ id: one.id }} aria-current={one.id === run.id ? 'page' : undefined}>
              {t('run.attemptNumber', { n: one.attempt })}
            </Link>
            <StatusBadge status={one.status} />
            <span className={`small dim ${classes.when}`}>
              <TimeText at={one.startedAt ?? one.dueAt ?? one.plannedAt} /> {one.workerName && <PlainText>{one.workerName}</PlainText>}
            </span>
          </li>
        ))}
      </ol>
    </Panel>
  );
}
