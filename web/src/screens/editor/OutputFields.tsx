import { TextInput } from '@mantine/core';
import { useState } from 'react';
import { fieldId, useForm } from './context.ts';
import { namesAt } from './document/parse.ts';
import classes from './fields.module.css';
import { useTexts } from './inputs.tsx';

/** The names of the outputs, separated by commas. Their options are written in YAML, and stay. */
export function OutputFields() {
  const { doc, errorAt } = useForm();
  const { label, description } = useTexts(['outputs']);
  const [draft, setDraft] = useState<string>();
  const names = namesAt(doc.snapshot().good, ['outputs']);
  const type = (text: string) => {
    setDraft(text);
    const next = [...new Set(text.split(',').map((name) => name.trim()).filter(Boolean))];
    const gone = names.filter((name) => !next.includes(name));
    const added = next.filter((name) => !names.includes(name));
    doc.setAll(next.length === 0 ? [[['outputs'], undefined]] : [...gone.map((name): Change => [['outputs', name], undefined]), ...added.map((name): Change => [['outputs', name], {}])]);
  };
  return (
    <TextInput
      id={fieldId('outputs')} className={classes.mono} label={label} description={description} spellCheck={false} autoCapitalize="none" value={draft ?? names.join(', ')} error={errorAt('outputs')}
      onChange={(e) => type(e.currentTarget.value)} onBlur={() => setDraft(undefined)}
    />
  );
}

type Change = [(string | number)[], unknown];
