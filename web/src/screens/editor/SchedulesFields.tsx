import { ActionIcon, Button, TextInput } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import type { JobSchedule } from '../../api/types.ts';
import { WhenField } from '../../parts/WhenField.tsx';
import { Icon } from '../../parts/icons.tsx';
import { fieldId, useForm } from './context.ts';
import { namesAt } from './document/parse.ts';
import classes from './fields.module.css';
import { asOne, singleFields, splitSchedule } from './schedules.ts';
import { ZoneInput } from './ZoneInput.tsx';

const most = 20;
const code = { spellCheck: false, autoCapitalize: 'none', autoComplete: 'off' } as const;

/** The button that turns the schedule of the job into the first of several. */
export function AddSchedule() {
  const { t } = useTranslation();
  const { doc, definition } = useForm();
  const add = () => doc.setAll([...singleFields.map((field) => [[field], undefined] as const), [['schedules'], splitSchedule(definition)]]);
  return (
    <div>
      <Button size="xs" variant="default" leftSection={<Icon name="plus" size={14} />} disabled={!definition.cronExpr} onClick={add}>{t('editor.scheduleAdd')}</Button>
    </div>
  );
}

/** Several schedules. The daylight saving rules of each are written in YAML, and stay. */
export function SchedulesFields() {
  const { t } = useTranslation();
  const { doc, definition, whole, errorAt } = useForm();
  const all: readonly JobSchedule[] = Array.isArray(definition.schedules) ? definition.schedules : [];
  const params = namesAt(doc.snapshot().good, ['params']);
  const error = errorAt('schedules');
  const put = (next: readonly JobSchedule[]) => {
    const one = next.length === 1 && next[0] ? asOne(next[0]) : undefined;
    if (one) doc.setAll([[['schedules'], undefined], ...Object.entries(one).map(([field, value]) => [[field], value] as const)]);
    else doc.set(['schedules'], next.length === 0 ? undefined : next);
  };
  const inheritedAt = (i: number) => {
    const from = whole.from.get(`schedules[${i}].timezone`);
    return from === undefined ? undefined : { value: whole.job.schedules?.[i]?.timezone, from };
  };
  const write = (at: number, field: keyof JobSchedule, value: unknown) =>
    doc.set(['schedules'], all.map((entry, i) => {
      if (i !== at) return entry;
      const { [field]: _, ...others } = entry;
      return value === undefined || value === '' ? (field === 'cronExpr' ? { ...others, cronExpr: '' } : others) : { ...entry, [field]: value };
    }));
  const raise = (at: number) => put(all.flatMap((entry, i) => (i === at - 1 ? [all[at] as JobSchedule, entry] : i === at ? [] : [entry])));
  return (
    <fieldset className={classes.fieldset} id={fieldId('schedules')} tabIndex={-1} data-invalid={error !== undefined || undefined}>
      <legend className={classes.legend}>{t('editor.schedules')}</legend>
      <p className={classes.help}>{t('editor.schedulesHelp')}</p>
      {all.map((entry, i) => (
        <div key={i} className={classes.param} role="group" aria-label={t('editor.scheduleOf', { n: i + 1 })}>
          <div className={classes.pair}>
            <TextInput className={classes.mono} size="xs" {...code} label={t('editor.cron')} value={String(entry?.cronExpr ?? '')} onChange={(e) => write(i, 'cronExpr', e.currentTarget.value)} />
            <ZoneInput size="xs" inherited={inheritedAt(i)} label={t('editor.timezone')} value={String(entry?.timezone ?? '')} onChange={(zone) => write(i, 'timezone', zone)} />
            <TextInput size="xs" label={t('editor.scheduleLabel')} value={String(entry?.label ?? '')} maxLength={100} onChange={(e) => write(i, 'label', e.currentTarget.value)} />
            <TextInput className={classes.mono} size="xs" {...code} label={t('editor.jitter')} value={String(entry?.jitter ?? '')} onChange={(e) => write(i, 'jitter', e.currentTarget.value)} />
            <WhenField label={t('editor.startAt')} value={entry?.startAt} onChange={(at) => write(i, 'startAt', at)} />
            <WhenField label={t('editor.endAt')} value={entry?.endAt} onChange={(at) => write(i, 'endAt', at)} />
            {params.map((name) => (
              <TextInput
                key={name} className={classes.mono} size="xs" {...code} label={name} placeholder={definition.params?.[name]?.default} value={String(entry?.params?.[name] ?? '')}
                onChange={(e) => {
                  const { [name]: _, ...others } = entry.params ?? {};
                  const next = e.currentTarget.value === '' ? others : { ...others, [name]: e.currentTarget.value };
                  write(i, 'params', Object.keys(next).length === 0 ? undefined : next);
                }}
              />
            ))}
          </div>
          <div>
            {i > 0 && <ActionIcon variant="subtle" color="gray" size="lg" aria-label={t('editor.scheduleUp', { n: i + 1 })} onClick={() => raise(i)}><Icon name="up" size={16} /></ActionIcon>}
            <ActionIcon variant="subtle" color="gray" size="lg" aria-label={t('editor.scheduleRemove', { n: i + 1 })} onClick={() => put(all.filter((_, k) => k !== i))}><Icon name="close" size={16} /></ActionIcon>
          </div>
        </div>
      ))}
      <Button size="xs" variant="default" leftSection={<Icon name="plus" size={14} />} disabled={all.length >= most} onClick={() => put([...all, { cronExpr: '', ...(all[0]?.timezone && { timezone: all[0].timezone }) }])}>{t('editor.scheduleAdd')}</Button>
      {error && <p className={classes.error}>{error}</p>}
    </fieldset>
  );
}
