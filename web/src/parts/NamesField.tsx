import { MultiSelect, TagsInput } from '@mantine/core';
import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { visible } from '../lib/visible.ts';

interface Props {
  id?: string;
  label: string;
  description?: ReactNode;
  placeholder?: string | undefined;
  /** The names to choose from. */
  known: readonly string[];
  value: readonly string[];
  error?: ReactNode;
  /** Accepts other names as well. */
  free?: boolean;
  /** Text for an empty list of choices. */
  nothing?: string | undefined;
  onChange: (names: string[]) => void;
}

const shown = 50;

/** Several names as chips, with a search in those that exist. */
export function NamesField({ known, value, free = false, nothing, placeholder, onChange, ...texts }: Props) {
  const { t } = useTranslation();
  const common = { ...texts, ...(placeholder !== undefined && { placeholder }), value: [...value], limit: shown, clearable: value.length > 1, clearButtonProps: { 'aria-label': t('names.removeAll') }, spellCheck: false, autoCapitalize: 'none' };
  if (free) return <TagsInput {...common} data={[...known]} splitChars={[',', ' ', ';', '，', '、']} acceptValueOnBlur onChange={(names) => onChange([...new Set(names.flatMap((name) => name.split(/[\s,;，；、]+/)).filter(Boolean))])} />;
  // A name that does not exist (any more) stays until it is removed.
  const data = [...new Set([...known, ...value])].map((name) => ({ value: name, label: visible(name) }));
  return <MultiSelect {...common} searchable data={data} hidePickedOptions nothingFoundMessage={nothing} onChange={onChange} />;
}
