import { Autocomplete, CloseButton } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { useEffect, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { useJobsCalled } from '../api/palette.ts';
import { isRunJob } from '../lib/names.ts';
import { ranked } from '../lib/ranking.ts';
import { visible } from '../lib/visible.ts';
import { Icon } from './icons.tsx';
import classes from './JobField.module.css';

interface Props {
  /** The chosen job; '' for all. */
  value: string;
  onChange: (job: string) => void;
  /** With a label above it, in a form; otherwise it is the page's search field, which the key “/” focuses. */
  labelled?: boolean;
}

/** Value of the line that reports that nothing was found; no job can have this name. */
const nothing = '\u0000';

/** A filter by one job, which is found by a part of its name or title. Typed text filters nothing until a job is chosen. */
export function JobField({ value, onChange, labelled = false }: Props) {
  const { t } = useTranslation();
  const [text, setText] = useState(value);
  useEffect(() => setText(value), [value]);
  const typed = text.trim();
  const [asked] = useDebouncedValue(typed, 150);
  const found = useJobsCalled(asked, true);
  const current = asked === typed && !found.isPlaceholderData ? found.data : undefined;
  const jobs = ranked(found.data ?? [], typed, ({ name, title }) => [name, title]);
  const titles = new Map(jobs.map(({ name, title }) => [name, title]));
  const none = current !== undefined && jobs.length === 0 && typed !== '';
  // Runs of deleted jobs, and of the steps of flows, are listed under names that no job has.
  const asName = isRunJob(typed) && current !== undefined && !titles.has(typed) ? [{ value: typed, label: typed }] : [];
  const options = [...jobs.map(({ name }) => ({ value: name, label: name })), ...(none ? [{ value: nothing, label: nothing, disabled: true }] : []), ...asName];
  const label = t('jobField.label');
  const choose = (job: string) => {
    setText(job);
    if (job !== value) onChange(job);
  };
  return (
    <Autocomplete
      {...(labelled ? { label } : { 'data-search': '', wrapperProps: { 'data-grow': '' }, 'aria-label': label })} placeholder={t('jobField.placeholder')}
      value={text} data={options} filter={({ options: all }) => all} maxDropdownHeight={360} maxLength={200} spellCheck={false} autoCapitalize="none" selectFirstOptionOnChange
      leftSection={<Icon name="search" size={16} />}
      rightSection={text !== '' && <CloseButton size="sm" aria-label={t('common.clear')} onClick={() => choose('')} />}
      renderOption={({ option }) => {
        if (option.value === nothing) return <span className="dim">{t('jobField.none', { text: visible(typed) })}</span>;
        if (!titles.has(option.value)) return <span>{t('jobField.asName', { name: visible(option.value) })}</span>;
        const title = titles.get(option.value);
        return <span className={classes.option}><bdi>{visible(title ?? option.value)}</bdi>{title && <bdi className="small dim">{visible(option.value)}</bdi>}</span>;
      }}
      onChange={setText} onOptionSubmit={choose}
      // A text that was not chosen gives way to the filter that applies; an empty one ends it.
      onBlur={() => (typed === '' || titles.has(typed) ? choose(typed) : setText(value))}
    />
  );
}
