import { useDebouncedValue } from '@mantine/hooks';
import { useTranslation } from 'react-i18next';
import { Problem } from '../../api/problem.ts';
import { usePreview } from '../../api/schedules.ts';
import { FireList } from '../../parts/FireList.tsx';
import { Panel } from '../../parts/Panel.tsx';
import { ProblemNotice } from '../../parts/ProblemNotice.tsx';
import { Waiting } from '../../parts/Waiting.tsx';
import type { Form } from './form.ts';

/** What the schedule that is being written means, while it is being written. */
export function PreviewPanel({ form }: { form: Form }) {
  const { t, i18n } = useTranslation();
  const [settled] = useDebouncedValue(form, 200);
  const cronExpr = settled.cronExpr.trim();
  const preview = usePreview(
    {
      cronExpr,
      timezone: settled.timezone.trim() || undefined,
      dst: { gap: settled.dstGap || undefined, overlap: settled.dstOverlap || undefined },
      name: settled.name.trim() || undefined,
      count: 6,
    },
    i18n.language,
  );
  // What is wrong with the line stands at its field; here it is enough to say that there is nothing to show.
  const unreadable = preview.error instanceof Problem && preview.error.code === 'invalid';
  return (
    <Panel title={t('editor.preview')}>
      <div aria-live="polite">
        {cronExpr === '' ? (
          <p className="dim small">{t('editor.previewEmpty')}</p>
        ) : unreadable ? (
          <p className="dim small">{t('editor.previewBad')}</p>
        ) : preview.error ? (
          <ProblemNotice error={preview.error} />
        ) : preview.data ? (
          <FireList preview={preview.data} />
        ) : (
          <Waiting rows={4} />
        )}
      </div>
    </Panel>
  );
}
