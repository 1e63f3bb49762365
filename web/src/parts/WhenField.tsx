import { ActionIcon, Popover, TextInput, type TextInputProps } from '@mantine/core';
import { useEffect, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { parseWhen, whenText } from '../lib/whenText.ts';
import { ClockField } from './ClockField.tsx';
import { Icon } from './icons.tsx';
import { MonthGrid } from './MonthGrid.tsx';
import classes from './WhenField.module.css';

interface Props extends Omit<TextInputProps, 'value' | 'onChange'> {
  /** The time; none if undefined. */
  value: string | undefined;
  onChange: (at: string | undefined) => void;
}

/** A date and time in the viewer's zone, typed or picked. It has 24 hours and one form in every browser. */
export function WhenField({ value, onChange, error, ...more }: Props) {
  const { t } = useTranslation();
  const [text, setText] = useState(() => whenText(value));
  const [wrong, setWrong] = useState(false);
  const [open, setOpen] = useState(false);
  // What is typed stays as it is while it means the value.
  useEffect(() => setText((typed) => (Date.parse(parseWhen(typed) ?? '') === Date.parse(value ?? '') || (value === undefined && typed !== '' && parseWhen(typed) === undefined) ? typed : whenText(value))), [value]);
  const type = (typed: string) => {
    setText(typed);
    setWrong(false);
    const at = parseWhen(typed);
    if (at !== undefined || typed.trim() === '') onChange(at);
  };
  const at = value === undefined ? undefined : new Date(value);
  const pick = (change: (next: Date) => void) => {
    const next = at ? new Date(at) : new Date(new Date().setSeconds(0, 0));
    change(next);
    setText(whenText(next.toISOString()));
    setWrong(false);
    onChange(next.toISOString().replace('.000Z', 'Z'));
  };
  return (
    <TextInput
      {...more} placeholder={t('when.form')} autoComplete="off" value={text} error={wrong ? t('when.wrong') : error}
      onChange={(event) => type(event.currentTarget.value)} onBlur={() => setWrong(text.trim() !== '' && parseWhen(text) === undefined)}
      rightSection={
        <Popover opened={open} onChange={setOpen} position="bottom-end" trapFocus returnFocus shadow="md">
          <Popover.Target>
            <ActionIcon variant="subtle" color="gray" aria-label={t('when.open')} onClick={() => setOpen((before) => !before)}><Icon name="calendar" size={16} /></ActionIcon>
          </Popover.Target>
          <Popover.Dropdown className={classes.box} aria-label={t('when.open')}>
            <MonthGrid chosen={at} onChoose={(day) => pick((next) => next.setFullYear(day.getFullYear(), day.getMonth(), day.getDate()))} />
            <ClockField
              size="xs" label={t('when.clock')} data-mantine-stop-propagation="true" hour={at?.getHours() ?? new Date().getHours()} minute={at?.getMinutes() ?? new Date().getMinutes()}
              onTime={(hour, minute) => pick((next) => next.setHours(hour, minute, 0, 0))}
            />
          </Popover.Dropdown>
        </Popover>
      }
    />
  );
}
