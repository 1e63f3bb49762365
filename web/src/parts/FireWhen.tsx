import { useTranslation } from 'react-i18next';
import type { Fire, Run } from '../api/types.ts';
import { formatSeconds, secondsBetween } from '../lib/duration.ts';
import { formatTime, inFull } from '../lib/time.ts';
import { TimeText } from './TimeText.tsx';

/** The planned time of a fire or run, the fires that an entry covers, and the earliest start if that is later. */
export function FireWhen({ of }: { of: Fire | Run }) {
  const { t, i18n } = useTranslation();
  const open = of.status === 'planned' || of.status === 'waiting';
  const later = secondsBetween(of.plannedAt, of.dueAt);
  return (
    <>
      <TimeText at={of.plannedAt} />
      {of.gap && <div className="small dim">{t(of.reason?.data?.count === 'at_least' ? 'runs.gapAtLeast' : 'runs.gap', { count: of.gap.count, from: formatTime(of.gap.from, i18n.language) })}</div>}
      {open && later !== undefined && later > 0 && <div className="small dim" title={inFull(of.dueAt ?? '', i18n.language)}>{t('runs.due', { delay: formatSeconds(later, i18n.language) })}</div>}
    </>
  );
}
