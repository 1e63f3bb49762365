import { Autocomplete, type AutocompleteProps } from '@mantine/core';
import { useMemo } from 'react';
import { useTranslation } from 'react-i18next';
import { useServerZone } from '../../api/version.ts';
import { visible } from '../../lib/visible.ts';
import { originText } from '../../parts/FromDefaults.tsx';

interface Props extends Omit<AutocompleteProps, 'data' | 'placeholder' | 'limit'> {
  /** The inherited zone, with its origin. */
  inherited?: { value: unknown; from: string } | undefined;
}

/** An input for a time zone. While it is empty it shows the one that then applies: an inherited one, or the server's. */
export function ZoneInput({ inherited, ...props }: Props) {
  const { t } = useTranslation();
  const zone = useServerZone();
  const zones = useMemo(() => [...new Set(['UTC', ...Intl.supportedValuesOf('timeZone')])], []);
  return <Autocomplete {...props} data={zones} limit={50} placeholder={inherited ? t('inherits.value', { value: visible(String(inherited.value)), from: originText(t, inherited.from) }) : zone && t('editor.zoneDefault', { zone })} spellCheck={false} autoCapitalize="none" />;
}
