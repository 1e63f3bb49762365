import { Button } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { useTranslation } from 'react-i18next';
import { auditExportLimit, collectAudit, type AuditFilter } from '../../api/audit.ts';
import { sentences } from '../../lib/lists.ts';
import { saveAs } from '../../lib/saveAs.ts';
import { Icon } from '../../parts/icons.tsx';
import { problemText } from '../../parts/problemText.ts';
import { showNotice } from '../../parts/showNotice.ts';
import { auditAsCsv } from './auditCsv.ts';

/** Downloads the entries of a filter. */
export function AuditExport({ filter }: { filter: AuditFilter }) {
  const { t, i18n } = useTranslation();
  const save = useMutation({
    mutationFn: () => collectAudit(filter, AbortSignal.timeout(120_000)),
    onSuccess: ({ entries, cut, partial }) => {
      // The byte order mark identifies UTF-8 to spreadsheets.
      saveAs(`audit-${new Date().toISOString().slice(0, 19).replaceAll(':', '')}.csv`, `\ufeff${auditAsCsv(entries)}`, 'text/csv;charset=utf-8');
      const number = new Intl.NumberFormat(i18n.language);
      showNotice(t, sentences([t('ledger.exported', { count: entries.length }), cut && t('ledger.exportCut', { limit: number.format(auditExportLimit) }), partial && t('degraded.partial')], i18n.language));
    },
    onError: (error) => showNotice(t, problemText(t, i18n.language, error).text),
  });
  return <Button variant="default" leftSection={<Icon name="download" size={16} />} loading={save.isPending} onClick={() => save.mutate()}>{t('audit.export')}</Button>;
}
