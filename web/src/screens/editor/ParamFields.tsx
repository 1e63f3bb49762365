import { ActionIcon, Button, TextInput } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { Icon } from '../../parts/icons.tsx';
import classes from './Editor.module.css';
import type { ParamRow } from './form.ts';

/** The variables that whoever triggers the job may set. */
export function ParamFields({ rows, error, onChange }: { rows: ParamRow[]; error: string | undefined; onChange: (rows: ParamRow[]) => void }) {
  const { t } = useTranslation();
  const change = (at: number, part: Partial<ParamRow>) => onChange(rows.map((row, i) => (i === at ? { ...row, ...part } : row)));
  return (
    <fieldset className={classes.fieldset}>
      <legend className={classes.legend}>{t('job.params')}</legend>
      <p className={classes.help}>{t('editor.paramsHelp')}</p>
      {rows.map((row, i) => (
        <div key={i} className={classes.param} role="group" aria-label={t('editor.paramOf', { n: i + 1 })}>
          <div className={classes.pair}>
            <TextInput
              className={classes.mono} size="xs" label={t('editor.paramName')} value={row.name} spellCheck={false} autoCapitalize="none"
              onChange={(e) => change(i, { name: e.currentTarget.value })}
            />
            <TextInput className={classes.mono} size="xs" label={t('editor.paramDefault')} value={row.default} spellCheck={false} onChange={(e) => change(i, { default: e.currentTarget.value })} />
            <TextInput size="xs" label={t('editor.paramDescription')} value={row.description} onChange={(e) => change(i, { description: e.currentTarget.value })} />
            <TextInput className={classes.mono} size="xs" label={t('editor.paramPattern')} placeholder="[a-z0-9-]+" value={row.pattern} spellCheck={false} onChange={(e) => change(i, { pattern: e.currentTarget.value })} />
          </div>
          <ActionIcon variant="subtle" color="gray" size="lg" aria-label={t('editor.paramRemove', { n: i + 1 })} onClick={() => onChange(rows.filter((_, at) => at !== i))}>
            <Icon name="close" size={16} />
          </ActionIcon>
        </div>
      ))}
      <Button size="xs" variant="default" leftSection={<Icon name="plus" size={14} />} onClick={() => onChange([...rows, { name: '', default: '', description: '', pattern: '' }])}>{t('editor.paramAdd')}</Button>
      {error && <p className={classes.error}>{error}</p>}
    </fieldset>
  );
}
