import { Textarea } from '@mantine/core';
import { useTranslation } from 'react-i18next';

/** The reason of a change to a job, which is shown with its version and in the audit. */
export function ReasonField({ value, onChange }: { value: string; onChange: (note: string) => void }) {
  const { t } = useTranslation();
  return <Textarea label={t('versions.note')} description={t('versions.noteHelp')} autosize minRows={1} maxRows={4} maxLength={500} value={value} onChange={(event) => onChange(event.currentTarget.value)} />;
}
