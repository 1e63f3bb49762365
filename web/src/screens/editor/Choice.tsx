import { NativeSelect } from '@mantine/core';
import { useTranslation } from 'react-i18next';

interface Props<Value extends string> {
  label: string;
  description?: string;
  value: Value | '';
  /** What holds where nothing is chosen. */
  otherwise: Value;
  options: Record<Value, string>;
  error: string | undefined;
  onChange: (value: Value | '') => void;
}

/** A choice with a default, which is not written down. Where it was written down it stays. */
export function Choice<Value extends string>({ label, description, value, otherwise, options, error, onChange }: Props<Value>) {
  const { t } = useTranslation();
  const values = (Object.keys(options) as Value[]).filter((v) => v !== otherwise || v === value);
  return (
    <NativeSelect
      label={label} description={description} value={value} error={error}
      data={[{ value: '', label: t('common.default', { value: options[otherwise] }) }, ...values.map((v) => ({ value: v, label: options[v] }))]}
      onChange={(e) => onChange(e.currentTarget.value as Value | '')}
    />
  );
}
