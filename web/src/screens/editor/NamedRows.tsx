import { ActionIcon, Button, TextInput } from '@mantine/core';
import { useId, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { Icon } from '../../parts/icons.tsx';
import { fieldId, useForm } from './context.ts';
import { namesAt } from './document/parse.ts';
import { valueAt } from './document/paths.ts';
import classes from './fields.module.css';
import { InheritedVariables } from './Inherited.tsx';
import { useTexts } from './inputs.tsx';

interface Texts {
  add: string;
  name: string;
  value: string;
  nameOf: (n: number) => string;
  valueOf: (n: number) => string;
  remove: (name: string) => string;
}

/** Name-value pairs: variables, labels. A row without a name is not in the document yet. */
export function NamedRows({ field, texts, suggestions }: { field: 'env' | 'labels'; texts: Texts; suggestions?: readonly string[] | undefined }) {
  const { t } = useTranslation();
  const { doc, definition, errorAt, fresh: all, setFresh } = useForm();
  const { label, description } = useTexts([field]);
  const listId = useId();
  const unnamed = all[field];
  const fresh = unnamed && { name: '', value: unnamed.value ?? '' };
  // Names that cannot be used yet, being empty or duplicate, by row.
  const [draft, setDraft] = useState<{ row: number; name: string }>();
  // In the order of the text: typing must not move the row.
  const names = namesAt(doc.snapshot().good, [field]);
  const rows = names.map((name) => ({ name, value: String(valueAt(definition, [field, name]) ?? '') }));
  const error = errorAt(field);

  const rename = (row: number, name: string) => {
    const before = names[row];
    const taken = name === '' || (names.includes(name) && name !== before);
    setDraft(taken ? { row, name } : undefined);
    if (taken) return;
    if (before !== undefined) doc.rename([field, before], name);
    else {
      doc.set([field, name], fresh?.value ?? '');
      setFresh(field, undefined);
    }
  };
  const write = (row: number, value: string) => {
    const name = names[row];
    if (name !== undefined) doc.set([field, name], value);
    else setFresh(field, { value });
  };
  const remove = (row: number) => {
    const name = names[row];
    setDraft(undefined);
    if (name !== undefined) doc.set([field, name], undefined);
    else setFresh(field, undefined);
  };
  const shown = fresh ? [...rows, fresh] : rows;
  const twice = draft && draft.name !== '';
  return (
    <fieldset className={classes.fieldset} id={fieldId(field)} tabIndex={-1} data-invalid={error !== undefined || undefined}>
      <legend className={classes.legend}>{label}</legend>
      <p className={classes.help}>{description}</p>
      {field === 'env' && <InheritedVariables />}
      {shown.map((row, i) => (
        <div key={i} className={classes.env}>
          <TextInput
            className={classes.mono} aria-label={texts.nameOf(i + 1)} placeholder={texts.name} value={draft?.row === i ? draft.name : row.name} spellCheck={false} autoCapitalize="none" autoFocus={row === fresh}
            error={draft?.row === i && twice} onChange={(e) => rename(i, e.currentTarget.value)} onBlur={() => names[i] !== undefined && setDraft(undefined)}
          />
          <TextInput
            className={classes.mono} aria-label={texts.valueOf(i + 1)} placeholder={texts.value} value={row.value} spellCheck={false} autoCapitalize="none" list={suggestions && listId}
            onChange={(e) => write(i, e.currentTarget.value)}
          />
          <ActionIcon variant="subtle" color="gray" size="lg" aria-label={texts.remove(row.name)} onClick={() => remove(i)}>
            <Icon name="close" size={16} />
          </ActionIcon>
        </div>
      ))}
      {suggestions && <datalist id={listId}>{suggestions.map((s) => <option key={s} value={s} />)}</datalist>}
      <Button size="xs" variant="default" leftSection={<Icon name="plus" size={14} />} disabled={fresh !== undefined} onClick={() => setFresh(field, {})}>{texts.add}</Button>
      {twice && <p className={classes.error} role="alert">{t('editor.own.twice', { name: draft.name })}</p>}
      {error && <p className={classes.error}>{error}</p>}
    </fieldset>
  );
}
