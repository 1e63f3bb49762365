import { NativeSelect, Textarea, TextInput } from '@mantine/core';
import { useState, type ClipboardEvent, type ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { sentences } from '../../lib/lists.ts';
import { visible } from '../../lib/visible.ts';
import { localZone } from '../../lib/localTime.ts';
import { originText } from '../../parts/FromDefaults.tsx';
import { WhenField } from '../../parts/WhenField.tsx';
import { useField } from './context.ts';
import { same } from '../../lib/same.ts';
import type { Path } from './document/paths.ts';
import classes from './fields.module.css';
import { defaultAt, labelAt, specAt } from './labels.ts';

interface Props {
  path: Path;
  /** Code, not prose: monospaced, without spell checking. */
  mono?: boolean;
  help?: ReactNode;
  required?: boolean;
}

/** An example value; none that looks like a default. */
function exampleAt(path: Path): string | undefined {
  const example = specAt(path)?.example;
  return example !== undefined && /^\d+[a-zA-Z]+$/.test(example) ? undefined : example;
}

/** Returns label and help of a field, and its inherited or default value, as attributes of an input. */
export function useTexts(path: Path) {
  const { t } = useTranslation();
  const { inherited } = useField(path);
  const found = labelAt(path);
  const given = inherited?.value === undefined ? undefined : visible(Array.isArray(inherited.value) ? inherited.value.map(textOf).join(', ') : textOf(inherited.value));
  return {
    label: found ? t(`editor.${found.label}`) : String(path.at(-1)),
    description: found?.help && t(`editor.${found.help}`),
    placeholder: inherited && given !== undefined ? t('inherits.value', { value: given, from: originText(t, inherited.from) }) : (defaultAt(path) ?? exampleAt(path)),
  };
}

const code = { spellCheck: false, autoCapitalize: 'none', autoComplete: 'off' } as const;

function textOf(value: unknown): string {
  return value === undefined || value === null ? '' : typeof value === 'object' ? JSON.stringify(value) : String(value);
}

/** A single-line text. Empty means unset; surrounding space is trimmed on blur, except in prose. */
export function Text({ path, mono = true, help, required = false, readOnly, autoFocus, onPaste }: Props & { readOnly?: boolean; autoFocus?: boolean; onPaste?: (event: ClipboardEvent<HTMLInputElement>) => void }) {
  const { id, value, error, set } = useField(path);
  const { placeholder, ...texts } = useTexts(path);
  const text = textOf(value);
  return (
    <TextInput
      id={id} {...texts} {...(help !== undefined && { description: help })} className={mono ? classes.mono : undefined} {...(mono && { ...code, placeholder })} value={text} error={error} required={required}
      withAsterisk={required} readOnly={readOnly} autoFocus={autoFocus} maxLength={4096} onPaste={onPaste} onChange={(e) => set(e.currentTarget.value === '' ? undefined : e.currentTarget.value)}
      onBlur={() => text.trim() !== text && !readOnly && set(text.trim() === '' ? undefined : text.trim())}
    />
  );
}

/** A multi-line text. */
export function Area({ path, mono = true, required = false, rows = 2, onPaste }: Props & { rows?: number; onPaste?: (event: ClipboardEvent<HTMLTextAreaElement>) => void }) {
  const { id, value, error, set } = useField(path);
  const { placeholder: _, ...texts } = useTexts(path);
  return (
    <Textarea
      id={id} {...texts} className={mono ? classes.mono : undefined} {...(mono && code)} autosize minRows={rows} maxRows={16} value={textOf(value)} error={error} withAsterisk={required} required={required}
      onPaste={onPaste} onChange={(e) => set(e.currentTarget.value === '' ? undefined : e.currentTarget.value)}
    />
  );
}

/** An integer. Other text stays in the document as typed, with a fault. */
export function Whole({ path }: Props) {
  const { id, value, error, set } = useField(path);
  const texts = useTexts(path);
  const type = (text: string) => set(text.trim() === '' ? undefined : /^\d{1,15}$/.test(text.trim()) ? Number(text) : text);
  return <TextInput id={id} {...texts} {...code} inputMode="numeric" value={textOf(value)} error={error} onChange={(e) => type(e.currentTarget.value)} />;
}

function itemsOf(text: string, numbers: boolean): unknown[] | undefined {
  const items = text.split(/[\s,，、]+/).filter((item) => item !== '');
  return items.length === 0 ? undefined : items.map((item) => (numbers && /^-?\d{1,15}$/.test(item) ? Number(item) : item));
}

/** Words or numbers separated by commas, with suggestions, one of which replaces the word that is being typed if it contains that. */
export function Words({ path, known = [], numbers = false, onDraft }: Props & { known?: readonly string[]; numbers?: boolean; /** Receives the word that is being typed. */ onDraft?: (word: string) => void }) {
  const { t } = useTranslation();
  const { id, value, error, warning, set } = useField(path);
  const texts = useTexts(path);
  const [draft, setDraft] = useState<string>();
  const items = Array.isArray(value) ? value.map(textOf) : value === undefined ? [] : [textOf(value)];
  const written = draft !== undefined && same(itemsOf(draft, numbers) ?? [], Array.isArray(value) ? value : []) ? draft : items.join(', ');
  const type = (text: string) => {
    setDraft(text);
    set(itemsOf(text, numbers));
    onDraft?.(/[^\s,，、]*$/.exec(text)?.[0] ?? '');
  };
  const take = (item: string) => {
    const last = items.at(-1);
    const replaced = onDraft && last !== undefined && !known.includes(last) && item.includes(last);
    set([...(replaced ? items.slice(0, -1) : items), item]);
    onDraft?.('');
  };
  const left = known.filter((item) => !items.includes(item));
  return (
    <div>
      <TextInput id={id} {...texts} className={classes.mono} {...code} value={written} error={error} onChange={(e) => type(e.currentTarget.value)} onBlur={() => setDraft(undefined)} />
      {warning && <p className={classes.warning}>{warning}</p>}
      {left.length > 0 && (
        <div className={classes.chips} role="group" aria-label={t('editor.offered', { field: texts.label })}>
          {left.slice(0, 8).map((item) => (
            <button key={item} type="button" className={classes.chip} onClick={() => take(item)}>+ {item}</button>
          ))}
        </div>
      )}
    </div>
  );
}

/** A choice with a default, which is not written; an explicit default stays. An invalid value is shown unchanged. */
export function Choice<Value extends string>({ path, otherwise, options }: { path: Path; otherwise: NoInfer<Value>; options: Record<Value, string> }) {
  const { t } = useTranslation();
  const { id, value, inherited, error, set } = useField(path);
  const { placeholder: _, ...texts } = useTexts(path);
  const boolean = specAt(path)?.type === 'boolean';
  const now = textOf(value);
  const values = (Object.keys(options) as Value[]).filter((v) => v !== otherwise || v === now || (inherited && textOf(inherited.value) !== ''));
  const given = textOf(inherited?.value);
  const unset = inherited && given in options ? t('inherits.choice', { value: options[given as Value], from: originText(t, inherited.from) }) : t('common.default', { value: options[otherwise] });
  const strange = now !== '' && !(now in options) ? [{ value: now, label: now }] : [];
  return (
    <NativeSelect
      id={id} {...texts} value={now} error={error}
      data={[{ value: '', label: unset }, ...values.map((v) => ({ value: v, label: options[v] })), ...strange]}
      onChange={(e) => set(e.currentTarget.value === '' ? undefined : boolean ? e.currentTarget.value === 'true' : e.currentTarget.value)}
    />
  );
}

/** A time in the viewer's zone. An untouched one keeps its notation. */
export function Time({ path }: Props) {
  const { t, i18n } = useTranslation();
  const { id, value, error, set } = useField(path);
  const { label, description } = useTexts(path);
  return (
    <WhenField
      id={id} label={label} description={sentences([description, t('editor.localHelp', { zone: localZone() })], i18n.language)} value={typeof value === 'string' && !Number.isNaN(Date.parse(value)) ? value : undefined} error={error}
      onChange={set}
    />
  );
}
