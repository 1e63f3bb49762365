import { useState, type ClipboardEvent } from 'react';
import { useTranslation } from 'react-i18next';
import { useJobNames } from '../../../api/jobs.ts';
import { Panel } from '../../../parts/Panel.tsx';
import { useField } from '../context.ts';
import { CronPicker } from '../CronPicker.tsx';
import classes from '../fields.module.css';
import { Fold } from '../Fold.tsx';
import { Choice, Text, Time, useTexts, Words } from '../inputs.tsx';
import { SchedulePreview } from '../SchedulePreview.tsx';
import { AddSchedule, SchedulesFields } from '../SchedulesFields.tsx';
import { ZoneInput } from '../ZoneInput.tsx';

export function Zone() {
  const { id, value, inherited, error, set } = useField(['timezone']);
  const { label, description } = useTexts(['timezone']);
  return <ZoneInput id={id} label={label} description={description} inherited={inherited} value={typeof value === 'string' ? value : ''} error={error} onChange={(zone) => set(zone === '' ? undefined : zone)} />;
}

/** The parents of the job, with names that continue what is being typed. */
function After() {
  const { value } = useField(['after']);
  const { value: name } = useField(['name']);
  const [draft, setDraft] = useState('');
  const names = useJobNames(draft);
  const chosen = Array.isArray(value) ? value : [];
  return <Words path={['after']} known={names.filter((known) => known !== name && !chosen.includes(known))} onDraft={setDraft} />;
}

export function Schedule({ onPaste, preview }: { onPaste: (event: ClipboardEvent<HTMLElement>) => void; preview: boolean }) {
  const { t } = useTranslation();
  const several = useField(['schedules']).value !== undefined;
  return (
    <>
      <Panel title={t('editor.when')}>
        <div className={classes.stack}>
          {several ? <SchedulesFields /> : (
            <>
              <Text path={['cronExpr']} onPaste={onPaste} />
              <CronPicker />
            </>
          )}
          <details className={`${classes.more} unfold`}>
            <summary>{t('editor.cronMore')}</summary>
            <p>{t('editor.cronFields')}</p>
            <p>{t('editor.cronH')}</p>
          </details>
          {!several && <Zone />}
          {!several && <AddSchedule />}
          {preview && <SchedulePreview />}
          <After />
        </div>
      </Panel>
      {!several && <Fold id="dst" title={t('editor.whenMore')} fields={['dst.gap', 'dst.overlap', 'startAt', 'endAt', 'jitter']}>
        <div className={classes.stack}>
          <div className={classes.pair}>
            <Choice path={['dst', 'gap']} otherwise="run" options={{ run: t('editor.dst.run'), skip: t('editor.dst.skip') }} />
            <Choice path={['dst', 'overlap']} otherwise="cron" options={{ cron: t('editor.dst.cron'), first: t('editor.dst.first'), second: t('editor.dst.second'), both: t('editor.dst.both') }} />
            <Time path={['startAt']} />
            <Time path={['endAt']} />
            <Text path={['jitter']} />
          </div>
        </div>
      </Fold>}
    </>
  );
}
