import { useTranslation } from 'react-i18next';
import type { Run } from '../../api/types.ts';
import { adviceFor, exitMeaning, signalMeaning } from '../../lib/outcome.ts';
import { visible } from '../../lib/visible.ts';
import { Filled, slot } from '../../parts/Filled.tsx';
import { TimeText } from '../../parts/TimeText.tsx';
import { Why } from '../../parts/Why.tsx';
import classes from './Outcome.module.css';

const tones: Partial<Record<Run['status'], 'bad' | 'warn' | 'idle'>> = { failed: 'bad', timed_out: 'bad', lost: 'bad', killed: 'warn', refused: 'warn', missed: 'warn', skipped: 'idle', waiting: 'idle' };

/** Why a run waits, did not happen, or ended as it did, with an explanation and advice. Nothing for a success. */
export function Outcome({ run }: { run: Run }) {
  const { t } = useTranslation();
  const tone = tones[run.status];
  if (!tone || (!run.reason && !run.dueAt)) return null;
  // For a run that a user killed the signal needs no explanation.
  const own = run.reason?.code === 'killed_by_user' || run.reason?.code === 'timeout' || run.reason?.code === 'max_run_time' || run.reason?.code === 'replaced';
  const meaning = own ? {} : run.signal ? signalMeaning(run.signal) : run.exitCode !== undefined ? exitMeaning(run.exitCode) : {};
  const advice = adviceFor(run.reason);
  return (
    <section className={classes.outcome} data-tone={tone} data-outcome={run.reason?.code} aria-label={t('outcome.title')}>
      {run.reason && <p className={classes.why}><Why reason={run.reason} /></p>}
      {run.dueAt && run.status === 'waiting' && <p><Filled text={t('run.dueAt', { at: slot })}><TimeText at={run.dueAt} /></Filled></p>}
      {(meaning.exit ?? meaning.signal) && (
        <p>
          <strong>{t('outcome.means')}</strong> {meaning.exit ? t(`outcome.exit.${meaning.exit}`) : meaning.signal && t(`outcome.signal.${meaning.signal}`)}{' '}
          {!run.signal && meaning.name && t('outcome.exitBy', { code: run.exitCode, signal: visible(meaning.name) })}
        </p>
      )}
      {advice && <p><strong>{t('outcome.todo')}</strong> {t(`outcome.advice.${advice}`)}</p>}
    </section>
  );
}
