import { useDebouncedValue } from '@mantine/hooks';
import { useTranslation } from 'react-i18next';
import { Problem } from '../../api/problem.ts';
import { usePreview } from '../../api/schedules.ts';
import type { Definition, PreviewRequest } from '../../api/types.ts';
import { FireList } from '../../parts/FireList.tsx';
import { ProblemNotice } from '../../parts/ProblemNotice.tsx';
import { Waiting } from '../../parts/Waiting.tsx';
import { useForm } from './context.ts';
import classes from './fields.module.css';

const word = (value: unknown) => (typeof value === 'string' && value.trim() !== '' ? value.trim() : undefined);

/**
 * Returns the schedule to preview. Values that the server would reject are left out: their faults are shown at their
 * fields.
 */
export function previewOf({ cronExpr, timezone, dst, name }: Definition, count: number): PreviewRequest {
  const gap = dst?.gap === 'run' || dst?.gap === 'skip' ? dst.gap : undefined;
  const overlap = dst?.overlap === 'first' || dst?.overlap === 'second' || dst?.overlap === 'both' ? dst.overlap : undefined;
  return { cronExpr: word(cronExpr) ?? '', timezone: word(timezone), dst: gap || overlap ? { gap, overlap } : undefined, name: word(name), count };
}

/** A preview of the schedule while it is edited. */
export function SchedulePreview() {
  const { t, i18n } = useTranslation();
  const { definition } = useForm();
  const [settled] = useDebouncedValue(definition, 200);
  const request = previewOf(settled, 6);
  const preview = usePreview(request, i18n.language);
  // The faults of the expression are shown at its field; here it is enough that there is no preview.
  const unreadable = preview.error instanceof Problem && preview.error.code === 'invalid';
  return (
    <section className={classes.preview} aria-label={t('editor.preview')} aria-live="polite">
      {request.cronExpr === '' ? (
        <p className="dim small">{t('editor.previewEmpty')}</p>
      ) : unreadable ? (
        <p className="dim small">{t('editor.previewBad')}</p>
      ) : preview.error ? (
        <ProblemNotice error={preview.error} />
      ) : preview.data ? (
        <FireList preview={preview.data} />
      ) : (
        <Waiting rows={3} />
      )}
    </section>
  );
}
