import { useTranslation } from 'react-i18next';
import { isTerminal } from '../../api/runs.ts';
import type { Run } from '../../api/types.ts';
import { formatSeconds, parseDuration, secondsBetween } from '../../lib/duration.ts';
import { formatDay, formatTimeOfDay, inFull } from '../../lib/time.ts';
import { ExpectedEnd } from '../../parts/ExpectedEnd.tsx';
import classes from './Timeline.module.css';

interface Step {
  name: string;
  at: string | undefined;
  /** Delay since the previous step, if known better than by timestamps. */
  took?: number | undefined;
  missing?: string;
}

// The clocks of two hosts may differ slightly, so a delay may be negative.
function seconds(text: string | undefined): number | undefined {
  const length = text === undefined ? undefined : parseDuration(text.replace(/^-/, ''));
  return length !== undefined && text?.startsWith('-') ? -length : length;
}

/** Formats a delay; below a millisecond it is not shown as a number. */
function length(took: number, language: string): string {
  return Math.abs(took) < 0.001 ? `< ${formatSeconds(0.001, language)}` : formatSeconds(took, language);
}

/** From this delay on it is highlighted: a schedule with seconds was missed. */
const slow = 5;

/** The time line of a run: planned, due, claimed, started, ended, and the delays. */
export function Timeline({ run }: { run: Run }) {
  const { t, i18n } = useTranslation();
  // A further attempt is due when it was allowed to start: its delays count from there.
  const due = run.readyAt ?? run.dueAt;
  const later = due !== undefined && Date.parse(due) - Date.parse(run.plannedAt) >= 1000;
  const terminal = isTerminal(run.status);
  const never = run.status === 'lost' ? t('run.unknown') : terminal ? t('run.never') : t('run.notYet');
  const startedAt = run.startedAt ?? run.orphaned?.startedAt;
  const steps: Step[] = [
    { name: t('run.planned'), at: run.plannedAt },
    ...(later ? [{ name: t('run.due'), at: due }] : []),
    { name: t('run.claimed'), at: run.claimedAt, took: later && !run.readyAt ? undefined : seconds(run.delays?.plan), missing: never },
    // The start of a command is known after two seconds; it was claimed some milliseconds before.
    ...(run.status === 'running' && startedAt === undefined ? [] : [{ name: t('run.started'), at: startedAt, took: run.delays && (seconds(run.delays.claim) ?? 0) + (seconds(run.delays.start) ?? 0), missing: never }]),
    { name: t('run.ended'), at: run.endedAt, missing: never },
  ];
  // All times have seconds, and those of another day its date; milliseconds are in the delays and the tooltips.
  const day = new Date(run.plannedAt).toDateString();
  return (
    <div className={classes.course}>
      <ol className={classes.line} data-steps={steps.length} aria-label={t('run.timeline')}>
        {steps.map(({ name, at, took, missing }, i) => {
          const since = took ?? secondsBetween(steps[i - 1]?.at, at);
          const last = i === steps.length - 1;
          return (
            <li key={name} className={classes.step} data-reached={at !== undefined} data-end={last && at ? run.status : undefined}>
              {since !== undefined && i > 0 && at && <span className={classes.took} data-slow={!last && !(later && i === 1) && since >= slow}>{length(since, i18n.language)}</span>}
              <span className={classes.name}>{name}</span>
              <span className={classes.at}>
                {!at && <span className="dim">{missing}</span>}
                {at && <time dateTime={at} title={inFull(at, i18n.language)} className="nowrap">{(i === 0 || new Date(at).toDateString() !== day) && `${formatDay(at, i18n.language)} `}{formatTimeOfDay(at, i18n.language, undefined, 'seconds')}</time>}
              </span>
            </li>
          );
        })}
      </ol>
      <ExpectedEnd run={run} />
    </div>
  );
}
