import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import type { Run } from '../../api/types.ts';
import { formatBytes } from '../../lib/bytes.ts';
import { adviceFor, exitMeaning, signalMeaning } from '../../lib/outcome.ts';
import { isTrouble } from '../../lib/troubles.ts';
import { visible } from '../../lib/visible.ts';
import { CauseLinks } from '../../parts/CauseLinks.tsx';
import { Filled, slot } from '../../parts/Filled.tsx';
import { Repeated, type LastAttempt } from '../../parts/Repeated.tsx';
import { useCan } from '../../parts/session.ts';
import { TimeText } from '../../parts/TimeText.tsx';
import { Why } from '../../parts/Why.tsx';
import classes from './Outcome.module.css';
import { PlacementNow } from './PlacementNow.tsx';

const tones: Partial<Record<Run['status'], 'bad' | 'warn' | 'idle'>> = { failed: 'bad', timed_out: 'bad', lost: 'bad', killed: 'warn', refused: 'warn', missed: 'warn', skipped: 'idle', waiting: 'idle' };

/** Reports whether there is something to say about how a run ended, or why it waits. */
export function hasOutcome(run: Run): boolean {
  return tones[run.status] !== undefined && (run.reason !== undefined || run.dueAt !== undefined);
}

/**
 * Why a run waits, did not happen, or ended as it did, with an explanation, advice, and what can be done about it.
 * Nothing for a success. Of a failed attempt that was repeated, first what became of the last one.
 */
export function Outcome({ run, last, acts }: { run: Run; last?: LastAttempt | undefined; acts?: ReactNode }) {
  const { t } = useTranslation();
  const mayRun = useCan('operator', run.group ?? '');
  const tone = tones[run.status];
  if (!tone || !hasOutcome(run)) return null;
  // For a run that a user or its worker ended the signal needs no explanation.
  const own = run.reason?.code === 'killed_by_user' || run.reason?.code === 'timeout' || run.reason?.code === 'max_run_time' || run.reason?.code === 'replaced' || run.reason?.code === 'worker_stopping' || run.reason?.code === 'worker_cut_off';
  const meaning = own ? {} : run.signal ? signalMeaning(run.signal) : run.exitCode !== undefined ? exitMeaning(run.exitCode) : {};
  // A later attempt succeeded, or is yet to end: there is nothing to do about this one.
  const settled = last !== undefined && !isTrouble(last.status);
  const advice = settled ? undefined : adviceFor(run.reason, { measured: run.maxRssBytes !== undefined, followed: last !== undefined });
  return (
    <section className={classes.outcome} data-tone={settled ? 'idle' : tone} data-outcome={run.reason?.code} aria-label={t('outcome.title')}>
      {last && <p className={classes.why}><Repeated last={last} /></p>}
      {run.reason && <p className={last ? undefined : classes.why}><Why reason={run.reason} output /></p>}
      {run.dueAt && run.status === 'waiting' && <p><Filled text={t('run.dueAt', { at: slot })}><TimeText at={run.dueAt} /></Filled></p>}
      {(meaning.exit ?? meaning.signal) && (
        <p>
          <strong>{t('outcome.means')}</strong> {meaning.exit ? t(`outcome.exit.${meaning.exit}`) : meaning.signal && t(`outcome.signal.${meaning.signal}`)}{' '}
          {!run.signal && meaning.name && t('outcome.exitBy', { code: run.exitCode, signal: visible(meaning.name) })}
        </p>
      )}
      {advice && <p><strong>{t('outcome.todo')}</strong> {t(`outcome.advice.${advice}`, { memory: formatBytes(run.maxRssBytes ?? 0) })}</p>}
      {isTrouble(run.status) && !settled && !mayRun && !run.hidden && <p data-ask="">{run.group ? t('outcome.askIn', { group: visible(run.group) }) : t('outcome.ask')}</p>}
      {run.reason?.code === 'late' && run.status === 'missed' ? <PlacementNow run={run} /> : <CauseLinks reason={run.reason} job={run.job} group={run.group} />}
      {acts && <div className={classes.acts}>{acts}</div>}
    </section>
  );
}
