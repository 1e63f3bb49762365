import { Link } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import type { Worker } from '../../api/types.ts';
import { useWorkerFigures } from '../../api/workers.ts';
import { Panel } from '../../parts/Panel.tsx';
import { PlainText } from '../../parts/PlainText.tsx';
import classes from './WorkersPage.module.css';

const shown = 8;

/**
 * Workers with runs in the last day that are no longer alive. A registration is deleted with its worker, so nothing
 * else shows that one is missing.
 */
export function GoneWorkers({ known }: { known: readonly Worker[] }) {
  const { t, i18n } = useTranslation();
  const number = new Intl.NumberFormat(i18n.language);
  const ids = new Set(known.map(({ id }) => id));
  const gone = (useWorkerFigures().data ?? []).filter(({ worker }) => !ids.has(worker));
  if (gone.length === 0) return null;
  return (
    <Panel title={t('workers.gone')}>
      <p className={`${classes.calm} ${classes.intro}`}>{t('workers.goneText')}</p>
      <ul className={classes.runs}>
        {gone.slice(0, shown).map(({ worker, name, runs, statuses }) => (
          <li key={worker}>
            <Link to="/runs" search={{ worker }} className={classes.runName}><PlainText>{name ?? worker}</PlainText></Link>
            <span>{t('workers.goneRuns', { count: runs, number: number.format(runs) })}</span>
            {statuses.lost > 0 && <strong className={classes.trouble}>{t('workers.goneLost', { count: statuses.lost })}</strong>}
          </li>
        ))}
      </ul>
      {gone.length > shown && <p className={classes.calm}>{t('workers.goneMore', { count: gone.length - shown })}</p>}
    </Panel>
  );
}
