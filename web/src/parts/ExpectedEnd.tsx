import { Progress } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { formatSeconds } from '../lib/duration.ts';
import { progressOf, type Going } from '../lib/expected.ts';
import { useNow } from '../lib/useNow.ts';
import classes from './ExpectedEnd.module.css';

/** The expected end of a run from the job's recent durations, as a bar and in words, below each other for tables. Nothing without statistics. */
export function ExpectedEnd({ run, stacked = false }: { run: Going; stacked?: boolean }) {
  const { t, i18n } = useTranslation();
  const now = useNow(1000, run.status === 'running');
  const progress = progressOf(run, now);
  if (!progress) return null;
  const words = progress.left >= 0 ? t('expected.left', { time: formatSeconds(Math.ceil(progress.left), i18n.language) }) : t('expected.over', { time: formatSeconds(Math.ceil(-progress.left), i18n.language) });
  return (
    <span className={classes.expected} data-expected="" data-stacked={stacked || undefined}>
      <Progress value={progress.share * 100} size="sm" color={progress.left >= 0 ? 'cyan' : 'yellow'} aria-label={t('expected.label')} transitionDuration={900} />
      <span className="small dim nowrap">{words}</span>
    </span>
  );
}
