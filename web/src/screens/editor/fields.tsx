import { ActionIcon, Autocomplete, Button, SegmentedControl, Textarea, TextInput } from '@mantine/core';
import { useMemo } from 'react';
import { useTranslation } from 'react-i18next';
import { localZone } from '../../lib/localTime.ts';
import { Icon } from '../../parts/icons.tsx';
import { Panel } from '../../parts/Panel.tsx';
import { Choice } from './Choice.tsx';
import classes from './Editor.module.css';
import { ParamFields } from './ParamFields.tsx';
import type { EnvRow, Field, Form } from './form.ts';

export interface Props {
  form: Form;
  set: (change: Partial<Form>) => void;
  errorAt: (field: Field) => string | undefined;
}

export function IdentityFields({ form, set, errorAt, isNew }: Props & { isNew: boolean }) {
  const { t } = useTranslation();
  return (
    <Panel title={t('editor.what')}>
      <div className={classes.stack}>
        <div className={classes.pair}>
          <TextInput
            className={classes.mono} label={t('editor.name')} description={isNew ? t('editor.nameHelp') : undefined} value={form.name} error={errorAt('name')}
            readOnly={!isNew} required={isNew} spellCheck={false} autoCapitalize="none" autoFocus={isNew} onChange={(e) => set({ name: e.currentTarget.value })}
          />
          <TextInput
            label={t('editor.jobTitle')} description={isNew ? t('editor.titleHelp') : undefined} value={form.title} error={errorAt('title')}
            onChange={(e) => set({ title: e.currentTarget.value })}
          />
        </div>
        <div className={classes.pair}>
          <TextInput className={classes.mono} label={t('editor.group')} value={form.group} error={errorAt('group')} spellCheck={false} autoCapitalize="none" onChange={(e) => set({ group: e.currentTarget.value })} />
          <Textarea label={t('editor.description')} autosize minRows={1} maxRows={6} value={form.description} error={errorAt('description')} onChange={(e) => set({ description: e.currentTarget.value })} />
        </div>
      </div>
    </Panel>
  );
}

export function ScheduleFields({ form, set, errorAt }: Props) {
  const { t } = useTranslation();
  const zones = useMemo(() => [...new Set(['UTC', ...Intl.supportedValuesOf('timeZone')])], []);
  return (
    <Panel title={t('editor.when')}>
      <div className={classes.stack}>
        <TextInput
          className={classes.mono} label={t('editor.cron')} description={t('editor.cronHelp')} placeholder="30 2 * * MON-FRI" value={form.cronExpr} error={errorAt('cronExpr')}
          maxLength={1024} spellCheck={false} autoCapitalize="none" onChange={(e) => set({ cronExpr: e.currentTarget.value })}
        />
        <Autocomplete
          label={t('editor.timezone')} description={t('editor.timezoneHelp')} data={zones} limit={50} value={form.timezone} error={errorAt('timezone')}
          spellCheck={false} onChange={(timezone) => set({ timezone })}
        />
        <div className={classes.pair}>
          <Choice
            label={t('editor.dstGap')} value={form.dstGap} error={errorAt('dstGap')} otherwise="run"
            options={{ run: t('editor.dst.run'), skip: t('editor.dst.skip') }} onChange={(dstGap) => set({ dstGap })}
          />
          <Choice
            label={t('editor.dstOverlap')} value={form.dstOverlap} error={errorAt('dstOverlap')} otherwise="first"
            options={{ first: t('editor.dst.first'), second: t('editor.dst.second'), both: t('editor.dst.both') }} onChange={(dstOverlap) => set({ dstOverlap })}
          />
        </div>
        <div className={classes.pair}>
          <TextInput type="datetime-local" step={1} label={t('editor.startAt')} description={t('editor.localHelp', { zone: localZone() })} value={form.startAt} error={errorAt('startAt')} onChange={(e) => set({ startAt: e.currentTarget.value })} />
          <TextInput type="datetime-local" step={1} label={t('editor.endAt')} description={t('editor.localHelp', { zone: localZone() })} value={form.endAt} error={errorAt('endAt')} onChange={(e) => set({ endAt: e.currentTarget.value })} />
        </div>
        <TextInput label={t('editor.jitter')} description={t('editor.jitterHelp')} value={form.jitter} error={errorAt('jitter')} spellCheck={false} onChange={(e) => set({ jitter: e.currentTarget.value })} />
      </div>
    </Panel>
  );
}

export function CommandFields({ form, set, errorAt }: Props) {
  const { t } = useTranslation();
  return (
    <Panel title={t('editor.how')}>
      <div className={classes.stack}>
        <SegmentedControl
          aria-label={t('editor.kind')} value={form.kind} onChange={(kind) => set({ kind: kind as Form['kind'] })}
          data={[{ value: 'command', label: t('editor.shellCommand') }, { value: 'args', label: t('editor.program') }]}
        />
        {form.kind === 'command' ? (
          <Textarea
            className={classes.mono} label={t('editor.command')} required autosize minRows={2} maxRows={16} value={form.command} error={errorAt('command')}
            spellCheck={false} autoCapitalize="none" onChange={(e) => set({ command: e.currentTarget.value })}
          />
        ) : (
          <Textarea
            className={classes.mono} label={t('editor.args')} description={t('editor.argsHelp')} required autosize minRows={2} maxRows={16} value={form.args} error={errorAt('args')}
            spellCheck={false} autoCapitalize="none" onChange={(e) => set({ args: e.currentTarget.value })}
          />
        )}
        <div className={classes.pair}>
          {form.kind === 'command' && (
            <TextInput className={classes.mono} label={t('editor.shell')} placeholder="/bin/sh" value={form.shell} error={errorAt('shell')} spellCheck={false} onChange={(e) => set({ shell: e.currentTarget.value })} />
          )}
          <TextInput className={classes.mono} label={t('editor.workDir')} value={form.workDir} error={errorAt('workDir')} spellCheck={false} onChange={(e) => set({ workDir: e.currentTarget.value })} />
        </div>
        <EnvFields rows={form.env} error={errorAt('env')} onChange={(env) => set({ env })} />
        <ParamFields rows={form.params} error={errorAt('params')} onChange={(params) => set({ params })} />
        <Textarea
          className={classes.mono} label={t('editor.stdin')} description={t('editor.stdinHelp')} autosize minRows={1} maxRows={8} value={form.stdin} error={errorAt('stdin')}
          spellCheck={false} onChange={(e) => set({ stdin: e.currentTarget.value })}
        />
      </div>
    </Panel>
  );
}

function EnvFields({ rows, error, onChange }: { rows: EnvRow[]; error: string | undefined; onChange: (rows: EnvRow[]) => void }) {
  const { t } = useTranslation();
  const change = (at: number, part: Partial<EnvRow>) => onChange(rows.map((row, i) => (i === at ? { ...row, ...part } : row)));
  return (
    <fieldset className={classes.fieldset}>
      <legend className={classes.legend}>{t('editor.env')}</legend>
      {rows.map((row, i) => (
        <div key={i} className={classes.env}>
          <TextInput
            className={classes.mono} aria-label={t('editor.envNameOf', { n: i + 1 })} placeholder={t('editor.envName')} value={row.name} spellCheck={false} autoCapitalize="none"
            onChange={(e) => change(i, { name: e.currentTarget.value })}
          />
          <TextInput
            className={classes.mono} aria-label={t('editor.envValueOf', { n: i + 1 })} placeholder={t('editor.envValue')} value={row.value} spellCheck={false}
            onChange={(e) => change(i, { value: e.currentTarget.value })}
          />
          <ActionIcon variant="subtle" color="gray" size="lg" aria-label={row.name ? t('editor.envRemove', { name: row.name }) : t('editor.envRemoveUnnamed')} onClick={() => onChange(rows.filter((_, at) => at !== i))}>
            <Icon name="close" size={16} />
          </ActionIcon>
        </div>
      ))}
      <Button size="xs" variant="default" leftSection={<Icon name="plus" size={14} />} onClick={() => onChange([...rows, { name: '', value: '' }])}>{t('editor.envAdd')}</Button>
      {error && <p className={classes.error}>{error}</p>}
    </fieldset>
  );
}
