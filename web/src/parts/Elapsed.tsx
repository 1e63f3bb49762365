import { useTranslation } from 'react-i18next';
import type { Run } from '../api/types.ts';
import { formatSeconds } from '../lib/duration.ts';
import { formatTime } from '../lib/time.ts';
import { useNow } from '../lib/useNow.ts';

/** When a run began. Its start is written down with its end; while it goes on, the claim a moment before is what is known. */
export function begunAt(run: Pick<Run, 'status' | 'startedAt' | 'claimedAt'>): string | undefined {
  return run.startedAt ?? (run.status === 'running' ? run.claimedAt : undefined);
}

/** For how long a run has been going on. */
export function Elapsed({ run }: { run: Run }) {
  const { t, i18n } = useTranslation();
  const now = useNow(1000);
  const begun = begunAt(run);
  if (begun === undefined) return null;
  return (
    <time dateTime={begun} title={formatTime(begun, i18n.language)} className="nowrap" data-elapsed="">
      {t('overview.elapsed', { time: formatSeconds(Math.max(0, Math.floor((now - Date.parse(begun)) / 1000)), i18n.language) })}
    </time>
  );
}
