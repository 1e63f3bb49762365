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

/** What the server is asked of a schedule. Values that it would refuse out of hand are left out: their faults stand elsewhere. */
export function previewOf({ cronExpr, timezone, dst, name }: Definition, count: number): PreviewRequest {
  const gap = dst?.gap === 'run' || dst?.gap === 'skip' ? dst.gap : undefined;
  const overlap = dst?.overlap === 'first' || dst?.overlap === 'second' || dst?.overlap === 'both' ? dst.overlap : undefined;
  return { cronExpr: word(cronExpr) ?? '', timezone: word(timezone), dst: gap || overlap ? { gap, overlap } : undefined, name: word(name), count };
}

/** What the schedule that is being written means, while it is being written. */
export function SchedulePreview() {
  const { t, i18n } = useTranslation();
  const { definition } = useForm();
  const [settled] = useDebouncedValue(definition, 200);
  const request = previewOf(settled, 6);
  const preview = usePreview(request, i18n.language);
  // What is wrong with the line stands at its field; here it is enough to say that there is nothing to show.
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
