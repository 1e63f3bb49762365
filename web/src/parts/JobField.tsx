import { useDebouncedValue } from '@mantine/hooks';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { useJobsCalled } from '../api/palette.ts';
import { isRunJob } from '../lib/names.ts';
import { visible } from '../lib/visible.ts';
import { PickField } from './PickField.tsx';

interface Props {
  /** The chosen job; '' for all. */
  value: string;
  onChange: (job: string) => void;
  /** With a label above it, in a form; otherwise it is the page's search field, which the key “/” focuses. */
  labelled?: boolean;
}

/** A filter by one job, which is found by a part of its name or title. */
export function JobField({ value, onChange, labelled = false }: Props) {
  const { t } = useTranslation();
  const [text, setText] = useState(value);
  const [asked] = useDebouncedValue(text, 150);
  const found = useJobsCalled(asked, true);
  return (
    <PickField
      label={t('jobField.label')} placeholder={t('jobField.placeholder')} labelled={labelled} value={value} onChange={onChange} choices={found.data ?? []} onText={setText}
      settled={asked === text && !found.isPlaceholderData && found.data !== undefined} none={(typed) => t('jobField.none', { text: typed })}
      // Runs of deleted jobs, and of the steps of flows, are listed under names that no job has.
      asName={(typed) => (isRunJob(typed) ? t('jobField.asName', { name: visible(typed) }) : undefined)}
    />
  );
}
