import { useTranslation } from 'react-i18next';
import type { Run } from '../../api/types.ts';
import { isTerminal } from '../../api/runs.ts';
import { formatSeconds, secondsBetween } from '../../lib/duration.ts';
import { TimeText } from '../../parts/TimeText.tsx';
import classes from './Timeline.module.css';

/** The course of a run: planned, claimed, started, ended, and how long each step took. */
export function Timeline({ run }: { run: Run }) {
  const { t } = useTranslation();
  const steps = [
    { name: t('run.planned'), at: run.plannedAt },
    { name: t('run.claimed'), at: run.claimedAt },
    { name: t('run.started'), at: run.startedAt ?? run.orphaned?.startedAt },
    { name: t('run.ended'), at: run.endedAt },
  ];
  // Of a run that goes on only the claim is known for certain; its start is written down with its end.
  const missing = (name: string) => {
    if (run.status === 'lost') return t('run.unknown');
    if (isTerminal(run.status)) return t('run.never');
    return run.status === 'running' && name === t('run.started') ? t('common.none') : t('run.notYet');
  };
  return (
    <ol className={classes.line} aria-label={t('run.timeline')}>
      {steps.map(({ name, at }, i) => {
        const took = secondsBetween(steps[i - 1]?.at, at);
        return (
          <li key={name} className={classes.step} data-reached={at !== undefined}>
            <span className={classes.name}>
              {name}
              {took !== undefined && <span className={classes.took}>{t('run.delayOf', { delay: formatSeconds(took) })}</span>}
            </span>
            <span className="small">{at ? <TimeText at={at} /> : <span className="dim">{missing(name)}</span>}</span>
          </li>
        );
      })}
    </ol>
  );
}
