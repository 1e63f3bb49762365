import { Button, Menu } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { useTranslation } from 'react-i18next';
import type { LedgerFilter } from '../../api/ledger.ts';
import { sentences } from '../../lib/lists.ts';
import { saveAs } from '../../lib/saveAs.ts';
import { Icon } from '../../parts/icons.tsx';
import { problemText } from '../../parts/problemText.ts';
import { showNotice } from '../../parts/showNotice.ts';
import { collect, exportLimit, firesAsCsv } from './exportFires.ts';

/** Downloads the filtered list. */
export function ExportMenu({ filter, nothing }: { filter: LedgerFilter; /** The list is empty. */ nothing: boolean }) {
  const { t, i18n } = useTranslation();
  const save = useMutation({
    mutationFn: async (format: 'csv' | 'json') => ({ format, ...(await collect(filter, AbortSignal.timeout(120_000))) }),
    onSuccess: ({ format, fires, cut, partial }) => {
      const name = `ledger-${new Date().toISOString().slice(0, 19).replaceAll(':', '')}.${format}`;
      // The byte order mark identifies UTF-8 to spreadsheets.
      if (format === 'csv') saveAs(name, `\ufeff${firesAsCsv(fires)}`, 'text/csv;charset=utf-8');
      else saveAs(name, `${JSON.stringify(fires, null, 2)}\n`, 'application/json');
      const number = new Intl.NumberFormat(i18n.language);
      showNotice(t, sentences([t('ledger.exported', { count: fires.length }), cut && t('ledger.exportCut', { limit: number.format(exportLimit) }), partial && t('degraded.partial')], i18n.language));
    },
    onError: (error) => showNotice(t, problemText(t, i18n.language, error).text),
  });
  return (
    <Menu position="bottom-end">
      <Menu.Target>
        <Button variant="default" leftSection={<Icon name="download" size={16} />} loading={save.isPending} disabled={nothing} title={nothing ? t('ledger.exportNothing') : undefined}>{t('ledger.export')}</Button>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Item onClick={() => save.mutate('csv')}>{t('ledger.exportCsv')}</Menu.Item>
        <Menu.Item onClick={() => save.mutate('json')}>{t('ledger.exportJson')}</Menu.Item>
      </Menu.Dropdown>
    </Menu>
  );
}
