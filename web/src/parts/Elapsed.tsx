import { useTranslation } from 'react-i18next';
import type { Run } from '../api/types.ts';
import { formatSeconds } from '../lib/duration.ts';
import { inFull } from '../lib/time.ts';
import { useNow } from '../lib/useNow.ts';

/**
 * Returns when a run started. The start is written with the end; during the run only the time of the claim is known.
 */
export function begunAt(run: Pick<Run, 'status' | 'startedAt' | 'claimedAt'>): string | undefined {
  return run.startedAt ?? (run.status === 'running' ? run.claimedAt : undefined);
}

/** How long a run has been running. */
export function Elapsed({ run }: { run: Run }) {
  const { t, i18n } = useTranslation();
  const now = useNow(1000);
  const begun = begunAt(run);
  if (begun === undefined) return null;
  return (
    <time dateTime={begun} title={inFull(begun, i18n.language)} className="nowrap" data-elapsed="">
      {t('overview.elapsed', { time: formatSeconds(Math.max(0, Math.floor((now - Date.parse(begun)) / 1000)), i18n.language) })}
    </time>
  );
}
