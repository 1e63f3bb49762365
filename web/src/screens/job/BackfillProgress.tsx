import { useTranslation } from 'react-i18next';
import type { Backfill } from '../../api/backfills.ts';
import { listed } from '../../lib/lists.ts';
import classes from './BackfillsPanel.module.css';

const tones = [['succeeded', 'ok'], ['failed', 'bad'], ['running', 'live'], ['skipped', 'warn'], ['waiting', 'idle']] as const;

/** Whether a backfill runs, or how it has ended. */
export function BackfillState({ backfill: { state, status } }: { backfill: Backfill }) {
  const { t } = useTranslation();
  const tone = state === 'ended' ? (status === 'succeeded' ? 'ok' : 'bad') : state === 'running' ? 'live' : 'warn';
  return <span className={classes.state} data-tone={tone} data-state={state}>{state === 'ended' && status ? t(`status.${status}`) : t(`backfill.states.${state}`)}</span>;
}

/** How many dates of a backfill have ended, and how: as a bar and in words. */
export function BackfillProgress({ backfill: { counts } }: { backfill: Backfill }) {
  const { t, i18n } = useTranslation();
  const figures = listed(tones.map(([name]) => counts[name] > 0 && t('backfill.figure', { count: counts[name], status: t(`status.${name}`).toLocaleLowerCase(i18n.language) })), i18n.language);
  const words = `${t('backfill.dates', { count: counts.total })}: ${figures}`;
  return (
    <>
      <div className={classes.bar} role="progressbar" aria-label={t('backfill.progress')} aria-valuemin={0} aria-valuemax={counts.total} aria-valuenow={counts.total - counts.waiting - counts.running} aria-valuetext={words}>
        {tones.map(([name, tone]) => counts[name] > 0 && <span key={name} data-tone={tone} style={{ flexGrow: counts[name] }} />)}
      </div>
      <div className="small dim">{words}</div>
    </>
  );
}
