import { NativeSelect, Switch, TextInput } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import type { Param } from '../api/types.ts';
import { choicesOf, switchOf } from '../lib/choices.ts';
import { visible } from '../lib/visible.ts';

interface Props {
  name: string;
  param: Param;
  value: string;
  error: string | undefined;
  first: boolean;
  onChange: (value: string) => void;
}

/** The value of a parameter: a switch or a list if its pattern is a plain list of words, else a text. */
export function ParamInput({ name, param, value, error, first, onChange }: Props) {
  const { t } = useTranslation();
  const choices = choicesOf(param.pattern);
  const either = switchOf(choices);
  const said = [
    param.description,
    param.default && !choices ? t('runDialog.default', { value: param.default }) : '',
    either && (param.default === either.on || param.default === either.off) ? t(param.default === either.on ? 'runDialog.defaultOn' : 'runDialog.defaultOff') : '',
    param.pattern && !choices ? t('runDialog.pattern', { pattern: param.pattern }) : '',
  ].filter(Boolean);
  const common = { label: <code>{name}</code>, description: said.length > 0 ? visible(said.join(' · ')) : undefined, error, 'data-autofocus': first || undefined };
  if (either && (value === either.on || value === either.off)) {
    return <Switch {...common} checked={value === either.on} onChange={(e) => onChange(e.currentTarget.checked ? either.on : either.off)} />;
  }
  if (choices) {
    // A value of an earlier run that is no longer accepted stays visible.
    const values = choices.includes(value) ? choices : [value, ...choices];
    const label = (choice: string) => (choice === param.default ? t('runDialog.isDefault', { value: choice }) : choice);
    return <NativeSelect {...common} value={value} data={values.map((choice) => ({ value: choice, label: label(choice) }))} onChange={(e) => onChange(e.currentTarget.value)} />;
  }
  return <TextInput {...common} value={value} spellCheck={false} autoCapitalize="none" onChange={(e) => onChange(e.currentTarget.value)} />;
}
