import { useText } from '../i18n/useText.ts';
import type { Job } from '../api/types.ts';
import { formatTime } from '../lib/time.ts';
import { visible } from '../lib/visible.ts';
import { Icon } from './icons.tsx';
import classes from './StatusBadge.module.css';

/** Whether a job is paused, and when it resumes; the note is in the tooltip. Nothing for an active job. */
export function JobState({ job }: { job: Job }) {
  const { t, language } = useText();
  if (job.meta.state === 'done') {
    return (
      <span className={classes.badge} data-tone="idle" data-state="done" title={t('pause.doneText')}>
        <Icon name="check" size={13} />
        {t('pause.done')}
      </span>
    );
  }
  if (job.meta.state !== 'paused') return null;
  const until = job.pauseUntil && t('pause.untilTime', { time: formatTime(job.pauseUntil, language) });
  const about = [job.pauseNote && visible(job.pauseNote), until].filter(Boolean).join('\n');
  return (
    <span className={classes.badge} data-tone="warn" data-state="paused" title={about}>
      <Icon name="pause" size={13} />
      {t('pause.paused')}
      {about !== '' && <span className="unseen">: {about}</span>}
    </span>
  );
}
