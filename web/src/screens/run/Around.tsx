import { Link } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import type { Run } from '../../api/types.ts';
import { rangeAround } from '../../lib/runRange.ts';
import classes from './RunPage.module.css';

const minutes = 10;

/** Links to what ran at the same time as a run, and to a search in its output. */
export function Around({ run }: { run: Run }) {
  const { t } = useTranslation();
  const range = rangeAround(run.startedAt ?? run.plannedAt, run.endedAt, minutes);
  return (
    <p className={classes.around}>
      {t('run.around', { minutes })} <Link to="/runs" search={range}>{t('run.aroundRuns')}</Link> · <Link to="/search" search={range}>{t('search.open')}</Link>
      {run.digest !== undefined && <> · <Link to="/runs" search={{ flowRun: run.id }}>{run.spread ? t('flowRun.runsOnWorkers') : t('flowRun.runsOfSteps')}</Link></>}
    </p>
  );
}
