import { NativeSelect, Switch, Textarea, TextInput } from '@mantine/core';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { useJobTypes } from '../../../api/jobTypes.ts';
import { fieldsOf, readJson, type SettingField } from '../../../lib/typeSchema.ts';
import { fieldId, useField, useForm } from '../context.ts';
import classes from '../fields.module.css';
import { useTexts } from '../inputs.tsx';

/** The choice of the type. The command, or the settings, of the type that was chosen before are removed. */
export function TypeChoice() {
  const { t, i18n } = useTranslation();
  const { doc, definition, errorAt, warningAt } = useForm();
  const types = useJobTypes().data ?? [];
  const { label, description } = useTexts(['type']);
  const now = typeof definition.type === 'string' && definition.type !== '' ? definition.type : 'shell';
  const known = types.some(({ name }) => name === now) || now === 'shell';
  const options = types.filter(({ name }) => name !== 'shell').map(({ name, title }) => ({ value: name, label: title?.[i18n.language] ?? title?.en ?? name }));
  const warning = warningAt('type');
  const choose = (next: string) => {
    if (next === 'shell') doc.setAll([[['type'], undefined], [['with'], undefined]]);
    else doc.setAll([[['command'], undefined], [['args'], undefined], [['shell'], undefined], [['stdin'], undefined], [['type'], next], [['with'], {}]]);
  };
  return (
    <div>
      <NativeSelect
        id={fieldId('type')} label={label} description={description} value={now} error={errorAt('type')}
        data={[{ value: 'shell', label: t('editor.shellType') }, ...options, ...(known ? [] : [{ value: now, label: now }])]} onChange={(e) => choose(e.currentTarget.value)}
      />
      {warning && <p className={classes.warning}>{warning}</p>}
    </div>
  );
}

function Setting({ field }: { field: SettingField }) {
  const { t } = useTranslation();
  const { id, value, error, set } = useField(['with', ...field.path]);
  const [draft, setDraft] = useState<string>();
  const label = field.path.join('.');
  const help = [field.help, field.secret ? t('editor.mayBeSecret') : undefined].filter((part) => part !== undefined).join(' ');
  const text = value === undefined || value === null ? '' : typeof value === 'string' ? value : JSON.stringify(value);
  const shared = { id, label, description: help, error, required: field.required, withAsterisk: field.required };
  const code = { spellCheck: false, autoCapitalize: 'none', autoComplete: 'off', className: classes.mono ?? '' } as const;
  switch (field.kind) {
    case 'switch':
      return <Switch id={id} label={label} description={help} checked={value === true} error={error} onChange={(e) => set(e.currentTarget.checked || undefined)} />;
    case 'choice':
      return <NativeSelect {...shared} value={text} data={['', ...field.choices]} onChange={(e) => set(e.currentTarget.value === '' ? undefined : e.currentTarget.value)} />;
    case 'lines':
      return <Textarea {...shared} {...code} autosize minRows={2} maxRows={16} value={text} onChange={(e) => set(e.currentTarget.value === '' ? undefined : e.currentTarget.value)} />;
    case 'json':
      return (
        <Textarea
          {...shared} {...code} autosize minRows={1} maxRows={16} placeholder={field.placeholder} value={draft ?? text} onBlur={() => setDraft(undefined)}
          onChange={(e) => {
            setDraft(e.currentTarget.value);
            set(readJson(e.currentTarget.value));
          }}
        />
      );
    case 'number':
    case 'text':
      return (
        <TextInput
          {...shared} {...code} placeholder={field.placeholder} value={text}
          onChange={(e) => {
            const written = e.currentTarget.value;
            set(written === '' ? undefined : field.kind === 'number' && /^-?\d{1,15}$/.test(written) ? Number(written) : written);
          }}
        />
      );
  }
}

/** The settings of a type, by its schema. Those of a type that no worker has are written as JSON. */
export function TypeSettings() {
  const { t } = useTranslation();
  const { definition, errorAt } = useForm();
  const { label, description } = useTexts(['with']);
  const types = useJobTypes();
  const found = types.data?.find(({ name }) => name === definition.type);
  const fields = fieldsOf(found?.with);
  const whole: SettingField = { path: [], kind: 'json', required: true, secret: false, help: description, placeholder: undefined, choices: [] };
  const error = errorAt('with');
  return (
    <div className={classes.stack} id={fieldId('with')} tabIndex={-1} role="group" aria-label={label}>
      {error && <p className={classes.warning}>{error}</p>}
      {fields.length === 0 ? <Setting field={whole} /> : fields.map((field) => <Setting key={field.path.join('.')} field={field} />)}
      {types.data && !found && <p className="small dim">{t('editor.unknownType')}</p>}
    </div>
  );
}
