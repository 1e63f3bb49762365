import { Autocomplete, CloseButton } from '@mantine/core';
import { useEffect, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { ranked } from '../lib/ranking.ts';
import { visible } from '../lib/visible.ts';
import { Icon } from './icons.tsx';
import classes from './PickField.module.css';

export interface Choice {
  name: string;
  title?: string | undefined;
}

interface Props {
  label: string;
  placeholder?: string;
  /** With a label above it, in a form. */
  labelled?: boolean;
  /** For a field beside the page's search field: the key “/” focuses the other one. */
  second?: boolean;
  /** The chosen name; '' for all. */
  value: string;
  onChange: (name: string) => void;
  /** Names that may have the typed text in them. */
  choices: readonly Choice[];
  /** They are those of the typed text. */
  settled: boolean;
  onText?: (text: string) => void;
  /** The text if nothing has the typed text. */
  none: (text: string) => string;
  /** The text of the choice to filter by the typed text as a name, if it can be one. */
  asName: (text: string) => string | undefined;
}

/** Value of the line that reports that nothing was found; no object can have this name. */
const nothing = '\u0000';

/** A filter by one name, which is found by a part of it. Typed text filters nothing until a name is chosen. */
export function PickField({ label, placeholder = label, labelled = false, second = false, value, onChange, choices, settled, onText, none, asName }: Props) {
  const { t } = useTranslation();
  const [text, setText] = useState(value);
  const type = (next: string) => {
    setText(next);
    onText?.(next.trim());
  };
  useEffect(() => type(value), [value]);
  const typed = text.trim();
  const found = ranked(choices, typed, ({ name, title }) => [name, title]);
  const titles = new Map(found.map(({ name, title }) => [name, title]));
  const missing = settled && found.length === 0 && typed !== '';
  const literal = settled && typed !== '' && !titles.has(typed) ? asName(typed) : undefined;
  const options = [...titles.keys(), ...(missing ? [nothing] : []), ...(literal === undefined ? [] : [typed])].map((name) => ({ value: name, label: name, disabled: name === nothing }));
  const choose = (name: string) => {
    type(name);
    if (name !== value) onChange(name);
  };
  return (
    <Autocomplete
      {...(labelled ? { label } : { ...(!second && { 'data-search': '' }), wrapperProps: { 'data-grow': '' }, 'aria-label': label })} placeholder={placeholder}
      value={text} data={options} filter={({ options: all }) => all} maxDropdownHeight={360} maxLength={200} spellCheck={false} autoCapitalize="none" selectFirstOptionOnChange
      leftSection={<Icon name="search" size={16} />}
      rightSection={text !== '' && <CloseButton size="sm" aria-label={t('common.clear')} onClick={() => choose('')} />}
      renderOption={({ option }) => {
        if (option.value === nothing) return <span className="dim">{none(visible(typed))}</span>;
        if (!titles.has(option.value)) return <span>{literal}</span>;
        const title = titles.get(option.value);
        return <span className={classes.option}><bdi>{visible(title ?? option.value)}</bdi>{title && <bdi className="small dim">{visible(option.value)}</bdi>}</span>;
      }}
      onChange={type} onOptionSubmit={choose}
      // A text that was not chosen gives way to the filter that applies; an empty one ends it.
      onBlur={() => (typed === '' || titles.has(typed) ? choose(typed) : type(value))}
    />
  );
}
