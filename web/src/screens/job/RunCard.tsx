import { useTranslation } from 'react-i18next';
import type { Run } from '../../api/types.ts';
import { formatSeconds, secondsBetween } from '../../lib/duration.ts';
import { formatTime } from '../../lib/time.ts';
import { useNow } from '../../lib/useNow.ts';
import { visible } from '../../lib/visible.ts';
import { actorText } from '../../parts/actorText.ts';
import { Facts } from '../../parts/Facts.tsx';
import { StatusBadge } from '../../parts/StatusBadge.tsx';
import { TimeText } from '../../parts/TimeText.tsx';
import { Why } from '../../parts/Why.tsx';
import classes from './RunsGrid.module.css';

export interface Shown {
  run: Run;
  /** Number of attempts of the fire. */
  of: number;
  /** Duration of the fire, in seconds. */
  seconds: number | undefined;
  /** The element that it describes. */
  at: DOMRect;
}

const wide = 320;
const high = 260;

/** A summary of a run beside its cell. Screen readers use the cell and the list. */
export function RunCard({ shown: { run, of, seconds, at } }: { shown: Shown }) {
  const { t, i18n } = useTranslation();
  const now = useNow(1000, run.status === 'running');
  const took = secondsBetween(run.startedAt, run.endedAt ?? (run.status === 'running' ? new Date(now).toISOString() : undefined));
  const delay = secondsBetween(run.plannedAt, run.startedAt);
  const left = Math.max(8, Math.min(at.left + at.width / 2 - wide / 2, document.documentElement.clientWidth - wide - 8));
  const below = at.bottom + high < window.innerHeight;
  return (
    <div
      className={classes.card} aria-hidden="true" data-card={run.id}
      style={{ width: wide, left, ...(below ? { top: at.bottom + 8 } : { bottom: window.innerHeight - at.top + 8 }) }}
    >
      <div className={classes.cardHead}>
        <StatusBadge status={run.status} />
        {of > 1 && <span className="small dim">{t('grid.attemptOf', { n: Math.max(1, run.attempt), of })}</span>}
      </div>
      <Facts
        entries={[
          [t('run.planned'), <TimeText key="planned" at={run.plannedAt} />],
          [t('runs.gapFact'), run.gap && t(run.reason?.data?.count === 'at_least' ? 'runs.gapAtLeast' : 'runs.gap', { count: run.gap.count, from: formatTime(run.gap.from, i18n.language) })],
          [t('run.started'), run.startedAt && <><TimeText at={run.startedAt} />{delay !== undefined && <span className="dim nowrap"> {t('run.delayOf', { delay: formatSeconds(delay, i18n.language) })}</span>}</>],
          [of > 1 ? t('grid.runDuration') : t('run.duration'), took !== undefined && formatSeconds(took, i18n.language)],
          [t('grid.fireDuration'), of > 1 && seconds !== undefined && formatSeconds(seconds, i18n.language)],
          [t('run.exitCode'), run.exitCode !== undefined && String(run.exitCode)],
          [t('run.signal'), run.signal],
          [t('run.worker'), (run.workerName ?? run.worker) && visible(run.workerName ?? run.worker ?? '')],
          [t('run.cause'), <>{t(`cause.${run.cause}`)}{run.triggeredBy && <span className="dim"> · {actorText(t, run.triggeredBy)}</span>}</>],
          [t('run.reason'), run.reason && run.reason.code !== 'exit_code' && <Why reason={run.reason} />],
          [t('run.note'), run.note && visible(run.note)],
        ]}
      />
    </div>
  );
}
