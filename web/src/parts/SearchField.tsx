import { CloseButton, TextInput } from '@mantine/core';
import { useDebouncedCallback } from '@mantine/hooks';
import { useEffect, useRef, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { Icon } from './icons.tsx';

interface Props {
  label: string;
  value: string;
  onChange: (value: string) => void;
  /** For a field beside the page's search field: the key “/” focuses the other one. */
  second?: boolean;
  /** Pause in typing before the value is reported, in milliseconds. */
  patience?: number;
}

/** The page's search field, which the key “/” focuses. It reports the text once typing pauses. */
export function SearchField({ label, value, onChange, second = false, patience = 150 }: Props) {
  const { t } = useTranslation();
  const [text, setText] = useState(value);
  const reported = useRef(value);
  const report = useDebouncedCallback((next: string) => {
    reported.current = next;
    onChange(next);
  }, patience);
  // Accepts values from elsewhere; a value that only echoes typed text would undo what was typed since.
  useEffect(() => {
    if (value !== reported.current) setText(value);
    reported.current = value;
  }, [value]);
  const type = (next: string) => {
    setText(next);
    report(next);
  };
  return (
    <TextInput
      data-search={second ? undefined : ''} wrapperProps={{ 'data-grow': '' }} type="text" role="searchbox"
      aria-label={label} placeholder={label} value={text} spellCheck={false} maxLength={200}
      leftSection={<Icon name="search" size={16} />}
      rightSection={text !== '' && <CloseButton size="sm" aria-label={t('common.clear')} onClick={() => type('')} />}
      onChange={(event) => type(event.currentTarget.value)}
      onKeyDown={(event) => event.key === 'Escape' && event.currentTarget.blur()}
    />
  );
}
