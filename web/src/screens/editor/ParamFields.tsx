import { ActionIcon, Button, TextInput } from '@mantine/core';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { Icon } from '../../parts/icons.tsx';
import { fieldId, useForm } from './context.ts';
import { namesAt } from './document/parse.ts';
import { valueAt } from './document/paths.ts';
import classes from './fields.module.css';

const parts = ['default', 'description', 'pattern'] as const;

/** The parameters of triggered runs. A new one is in the document once it has a name. */
export function ParamFields() {
  const { t } = useTranslation();
  const { doc, definition, errorAt, fresh: all, setFresh } = useForm();
  const fresh = all.params;
  const [draft, setDraft] = useState<{ row: number; name: string }>();
  // In the order of the text: typing must not move the row.
  const names = namesAt(doc.snapshot().good, ['params']);
  const error = errorAt('params');
  const labels = { default: t('editor.paramDefault'), description: t('editor.paramDescription'), pattern: t('editor.paramPattern') };

  const rename = (row: number, name: string) => {
    const before = names[row];
    const taken = name === '' || (names.includes(name) && name !== before);
    setDraft(taken ? { row, name } : undefined);
    if (taken) return;
    if (before !== undefined) doc.rename(['params', before], name);
    else {
      doc.set(['params', name], fresh ?? {});
      setFresh('params', undefined);
    }
  };
  const write = (row: number, part: (typeof parts)[number], text: string) => {
    const name = names[row];
    const { [part]: _, ...others } = (name === undefined ? fresh : (valueAt(definition, ['params', name]) as Record<string, string>)) ?? {};
    const next = text === '' ? others : { ...others, [part]: text };
    if (name === undefined) setFresh('params', next);
    else if (text === '' && Object.keys(others).length === 0) doc.set(['params', name], {});
    else doc.set(['params', name, part], text === '' ? undefined : text);
  };
  const remove = (row: number) => {
    const name = names[row];
    setDraft(undefined);
    if (name === undefined) setFresh('params', undefined);
    else doc.set(['params', name], undefined);
  };
  const shown = fresh ? [...names, ''] : names;
  return (
    <fieldset className={classes.fieldset} id={fieldId('params')} tabIndex={-1} data-invalid={error !== undefined || undefined}>
      <legend className={classes.legend}>{t('job.params')}</legend>
      <p className={classes.help}>{t('editor.paramsHelp')}</p>
      {shown.map((name, i) => {
        const values = (i < names.length ? valueAt(definition, ['params', name]) : fresh) as Record<string, string> | undefined;
        return (
          <div key={i} className={classes.param} role="group" aria-label={t('editor.paramOf', { n: i + 1 })}>
            <div className={classes.pair}>
              <TextInput
                className={classes.mono} size="xs" label={t('editor.paramName')} value={draft?.row === i ? draft.name : name} spellCheck={false} autoCapitalize="none" autoFocus={i >= names.length}
                onChange={(e) => rename(i, e.currentTarget.value)} onBlur={() => i < names.length && setDraft(undefined)}
                error={draft?.row === i && draft.name !== '' && t('editor.own.twice', { name: draft.name })}
              />
              {parts.map((part) => (
                <TextInput
                  key={part} className={part === 'description' ? undefined : classes.mono} size="xs" label={labels[part]} placeholder={part === 'pattern' ? '[a-z0-9-]+' : undefined} value={String(values?.[part] ?? '')}
                  spellCheck={part === 'description'} onChange={(e) => write(i, part, e.currentTarget.value)}
                />
              ))}
            </div>
            <ActionIcon variant="subtle" color="gray" size="lg" aria-label={t('editor.paramRemove', { n: i + 1 })} onClick={() => remove(i)}>
              <Icon name="close" size={16} />
            </ActionIcon>
          </div>
        );
      })}
      <Button size="xs" variant="default" leftSection={<Icon name="plus" size={14} />} disabled={fresh !== undefined} onClick={() => setFresh('params', {})}>{t('editor.paramAdd')}</Button>
      {error && <p className={classes.error}>{error}</p>}
    </fieldset>
  );
}
