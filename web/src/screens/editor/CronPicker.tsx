import { NativeSelect, SegmentedControl } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { weekday } from '../../lib/time.ts';
import { ClockField } from '../../parts/ClockField.tsx';
import { useField } from './context.ts';
import { lineOf, shapeAs, shapeOf, steps, type Kind, type Shape } from './cronShapes.ts';
import classes from './CronPicker.module.css';
import fieldClasses from './fields.module.css';

const two = (n: number) => String(n).padStart(2, '0');
const upTo = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, i) => from + i);

/** Buttons for one or more of a few numbers. The last selected one cannot be removed. */
function Chips({ label, values, chosen, text, onChange }: { label: string; values: readonly number[]; chosen: readonly number[]; text: (value: number) => string; onChange: (chosen: number[]) => void }) {
  const toggle = (value: number) => {
    const next = chosen.includes(value) ? chosen.filter((other) => other !== value) : [...chosen, value];
    if (next.length > 0) onChange(next);
  };
  return (
    <div role="group" aria-label={label}>
      <div className={fieldClasses.pickLabel}>{label}</div>
      <div className={fieldClasses.chips}>
        {values.map((value) => (
          <button key={value} type="button" className={fieldClasses.chip} aria-pressed={chosen.includes(value)} onClick={() => toggle(value)}>{text(value)}</button>
        ))}
      </div>
    </div>
  );
}

/** A picker for common schedules; the choice is written as a cron expression. */
export function CronPicker() {
  const { t, i18n } = useTranslation();
  const { value, set } = useField(['cronExpr']);
  const line = typeof value === 'string' ? value : '';
  const shape = shapeOf(line);
  const put = (next: Shape) => set(lineOf(next));
  const kinds: Kind[] = ['minutes', 'hourly', 'daily', 'weekly', 'monthly'];
  // A Sunday, so that a number determines the day of the week.
  const day = (n: number) => weekday(`2023-01-0${n + 1}`, i18n.language);
  const clock = shape && 'hour' in shape && (
    <ClockField className={classes.clock} label={t('editor.pick.at')} hour={shape.hour} minute={shape.minute} onTime={(hour, minute) => put({ ...shape, hour, minute })} />
  );
  return (
    <div className={classes.picker} role="group" aria-label={t('editor.pick.title')}>
      <SegmentedControl
        size="xs" aria-label={t('editor.pick.kind')} value={shape?.kind ?? ''} onChange={(kind) => put(shapeAs(kind as Kind, shape))} className={classes.kinds} withItemsBorders={false}
        data={kinds.map((kind) => ({ value: kind, label: t(`editor.pick.${kind}`) }))}
      />
      {shape?.kind === 'minutes' && (
        <NativeSelect
          label={t('editor.pick.every')} className={classes.clock} value={String(shape.every)} onChange={(e) => put({ kind: 'minutes', every: Number(e.currentTarget.value) })}
          data={steps.map((step) => ({ value: String(step), label: t('editor.pick.step', { count: step }) }))}
        />
      )}
      {shape?.kind === 'hourly' && <Chips label={t('editor.pick.minute')} values={[...new Set([...upTo(0, 11).map((n) => n * 5), ...shape.minutes])].sort((a, b) => a - b)} chosen={shape.minutes} text={(n) => `:${two(n)}`} onChange={(minutes) => put({ kind: 'hourly', minutes })} />}
      {shape?.kind === 'daily' && (
        <>
          <Chips label={t('editor.pick.hours')} values={upTo(0, 23)} chosen={shape.hours} text={two} onChange={(hours) => put({ ...shape, hours })} />
          <NativeSelect
            label={t('editor.pick.minute')} className={classes.clock} value={String(shape.minute)} data={upTo(0, 59).map((n) => ({ value: String(n), label: `:${two(n)}` }))}
            onChange={(e) => put({ ...shape, minute: Number(e.currentTarget.value) })}
          />
        </>
      )}
      {shape?.kind === 'weekly' && <Chips label={t('editor.pick.days')} values={[1, 2, 3, 4, 5, 6, 0]} chosen={shape.days} text={day} onChange={(days) => put({ ...shape, days })} />}
      {shape?.kind === 'monthly' && <Chips label={t('editor.pick.monthDays')} values={upTo(1, 31)} chosen={shape.days} text={String} onChange={(days) => put({ ...shape, days })} />}
      {clock}
      {!shape && line.trim() !== '' && <p className={fieldClasses.help}>{t('editor.pick.other')}</p>}
    </div>
  );
}
