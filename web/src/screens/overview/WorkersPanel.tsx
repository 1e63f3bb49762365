import { Link } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { useWorkers } from '../../api/workers.ts';
import { workerState, type WorkerState } from '../../lib/workerState.ts';
import { Meter } from '../../parts/Meter.tsx';
import { Panel } from '../../parts/Panel.tsx';
import { PlainText } from '../../parts/PlainText.tsx';
import { ProblemNotice } from '../../parts/ProblemNotice.tsx';
import { Waiting } from '../../parts/Waiting.tsx';
import classes from './rows.module.css';
import own from './WorkersPanel.module.css';

const shown = 8;

// Workers that take no runs come first; then by name, so that rows do not move.
const rank: Record<WorkerState, number> = { troubled: 0, stopping: 1, draining: 1, drained: 1, ready: 2, away: 3 };

/** The load of each worker, and which take no runs. */
export function WorkersPanel() {
  const { t, i18n } = useTranslation();
  const number = new Intl.NumberFormat(i18n.language);
  const workers = useWorkers();
  const all = [...(workers.data?.items ?? [])].sort((a, b) => rank[workerState(a)] - rank[workerState(b)] || a.name.localeCompare(b.name) || a.id.localeCompare(b.id));
  return (
    <Panel title={t('overview.workers')} side={<Link to="/workers" className={classes.side}>{t('overview.all')}</Link>}>
      {workers.error && !workers.data && <ProblemNotice error={workers.error} onRetry={() => void workers.refetch()} />}
      {!workers.data && !workers.error && <Waiting rows={2} />}
      {workers.data && all.length === 0 && <p className={classes.calm}>{t('overview.workersNone')}</p>}
      <ul className={own.list}>
        {all.slice(0, shown).map((worker) => {
          const state = workerState(worker);
          return (
            <li key={worker.id} data-worker={worker.name}>
              <span className="break"><PlainText>{worker.name || worker.id}</PlainText></span>
              <span className={own.state} data-state={state}>{t(`overview.${state}`)}</span>
              {state !== 'away' && (
                <>
                  <Meter max={Math.max(worker.slots, 1)} value={worker.used} label={t('overview.load', { worker: worker.name })} />
                  <span className={own.slots}>{t('overview.slotsOf', { count: worker.slots, used: number.format(worker.used), slots: number.format(worker.slots) })}</span>
                </>
              )}
            </li>
          );
        })}
      </ul>
      {all.length > shown && <Link to="/workers" className={classes.more}>{t('overview.more', { count: all.length - shown })}</Link>}
    </Panel>
  );
}
