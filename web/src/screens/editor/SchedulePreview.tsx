import { useDebouncedValue } from '@mantine/hooks';
import { useTranslation } from 'react-i18next';
import { Problem } from '../../api/problem.ts';
import { usePreview } from '../../api/schedules.ts';
import { previewOf } from '../../lib/previewOf.ts';
import { visible } from '../../lib/visible.ts';
import { FireList } from '../../parts/FireList.tsx';
import { ProblemNotice } from '../../parts/ProblemNotice.tsx';
import { faultText } from '../../parts/problemText.ts';
import { Waiting } from '../../parts/Waiting.tsx';
import { useForm } from './context.ts';
import classes from './fields.module.css';

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
