import { CloseButton, TextInput } from '@mantine/core';
import { useDebouncedCallback } from '@mantine/hooks';
import { useEffect, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { Icon } from './icons.tsx';

/** The page's search field, which the key “/” goes to. It reports what was typed once typing pauses. */
export function SearchField({ label, value, onChange }: { label: string; value: string; onChange: (value: string) => void }) {
  const { t } = useTranslation();
  const [text, setText] = useState(value);
  const report = useDebouncedCallback(onChange, 150);
  useEffect(() => setText(value), [value]);
  const type = (next: string) => {
    setText(next);
    report(next);
  };
  return (
    <TextInput
      data-search="" type="text" role="searchbox" aria-label={label} placeholder={label} value={text} spellCheck={false} maxLength={200}
      leftSection={<Icon name="search" size={16} />}
      rightSection={text !== '' && <CloseButton size="sm" aria-label={t('jobs.clearSearch')} onClick={() => type('')} />}
      onChange={(event) => type(event.currentTarget.value)}
      onKeyDown={(event) => event.key === 'Escape' && event.currentTarget.blur()}
    />
  );
}
