import { useDebouncedValue } from '@mantine/hooks';
import { useTranslation } from 'react-i18next';
import { Problem } from '../../api/problem.ts';
import { usePreview } from '../../api/schedules.ts';
import type { Definition, PreviewRequest } from '../../api/types.ts';
import { isTime } from '../../lib/time.ts';
import { visible } from '../../lib/visible.ts';
import { FireList } from '../../parts/FireList.tsx';
import { ProblemNotice } from '../../parts/ProblemNotice.tsx';
import { faultText } from '../../parts/problemText.ts';
import { Waiting } from '../../parts/Waiting.tsx';
import { useForm } from './context.ts';
import classes from './fields.module.css';

const word = (value: unknown) => (typeof value === 'string' && value.trim() !== '' ? value.trim() : undefined);

/**
 * Returns the schedule to preview. Values that the server would reject are left out: their faults are shown at their
 * fields.
 */
export function previewOf({ cronExpr, timezone, dst, startAt, endAt, schedules, name }: Definition, count: number): PreviewRequest {
  const several = Array.isArray(schedules) ? schedules.filter((entry) => word(entry?.cronExpr) !== undefined) : [];
  if (several.length > 0) return { schedules: several.map(({ params: _, ...entry }) => entry), name: word(name), count };
  const gap = dst?.gap === 'run' || dst?.gap === 'skip' ? dst.gap : undefined;
  const overlap = dst?.overlap === 'first' || dst?.overlap === 'second' || dst?.overlap === 'both' ? dst.overlap : undefined;
  const when = { cronExpr: word(cronExpr) ?? '', timezone: word(timezone), dst: gap || overlap ? { gap, overlap } : undefined };
  const [start, end] = [startAt, endAt].map((time) => (isTime(time ?? '') ? time : undefined));
  if (when.cronExpr !== '' && (start ?? end)) return { schedules: [{ ...when, startAt: start, endAt: end }], name: word(name), count };
  return { ...when, name: word(name), count };
}

/** A preview of the schedule while it is edited. */
export function SchedulePreview() {
  const { t, i18n } = useTranslation();
  const { job } = useForm().whole;
  const [settled] = useDebouncedValue(job, 200);
  const request = previewOf(settled, 5);
  const preview = usePreview(request, i18n.language);
  const faults = preview.error instanceof Problem && preview.error.code === 'invalid' ? preview.error.faults : [];
  const cause = (fault: (typeof faults)[number]) => (fault.location.endsWith('timezone') ? t('editor.previewZone', { zone: visible(request.timezone ?? '') }) : visible(faultText(t, i18n.language, fault)));
  return (
    <div className={classes.preview} data-preview="" aria-live="polite">
      {!request.cronExpr && !request.schedules ? (
        <p className="dim small">{t('editor.previewEmpty')}</p>
      ) : faults.length > 0 ? (
        faults.map((fault) => <p key={fault.location} className={classes.previewFault}>{cause(fault)}</p>)
      ) : preview.error ? (
        <ProblemNotice error={preview.error} />
      ) : preview.data ? (
        <FireList preview={preview.data} />
      ) : (
        <Waiting rows={3} />
      )}
    </div>
  );
}
