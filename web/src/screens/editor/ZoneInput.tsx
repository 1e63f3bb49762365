import { Autocomplete, type AutocompleteProps } from '@mantine/core';
import { useMemo } from 'react';
import { useTranslation } from 'react-i18next';
import { useServerZone } from '../../api/version.ts';

/** An input for a time zone. While it is empty it shows the server's, which then applies. */
export function ZoneInput(props: Omit<AutocompleteProps, 'data' | 'placeholder' | 'limit'>) {
  const { t } = useTranslation();
  const zone = useServerZone();
  const zones = useMemo(() => [...new Set(['UTC', ...Intl.supportedValuesOf('timeZone')])], []);
  return <Autocomplete {...props} data={zones} limit={50} placeholder={zone && t('editor.zoneDefault', { zone })} spellCheck={false} autoCapitalize="none" />;
}
