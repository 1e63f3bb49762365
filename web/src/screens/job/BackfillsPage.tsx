import { Link } from '@tanstack/react-router';
import { useMemo } from 'react';
import { useTranslation } from 'react-i18next';
import { useAllBackfills } from '../../api/backfills.ts';
import { DataTable } from '../../parts/DataTable.tsx';
import { EmptyPage } from '../../parts/EmptyPage.tsx';
import { PageHead } from '../../parts/PageHead.tsx';
import { Pager } from '../../parts/Pager.tsx';
import { PartialNotice } from '../../parts/PartialNotice.tsx';
import { ProblemNotice } from '../../parts/ProblemNotice.tsx';
import { useCursorPages } from '../../parts/useCursorPages.ts';
import { Waiting } from '../../parts/Waiting.tsx';
import { backfillColumns } from './backfillColumns.tsx';

/** The backfills of all jobs: those that have not ended, and then those that have, the newest first. */
export function BackfillsPage() {
  const { t, i18n } = useTranslation();
  const pages = useCursorPages('backfills');
  const backfills = useAllBackfills(pages.cursor);
  const columns = useMemo(() => backfillColumns(t, i18n.language), [t, i18n.language]);
  const rows = backfills.data?.items;
  const nothing = rows?.length === 0 && pages.page === 1 && !backfills.data?.nextCursor;
  return (
    <>
      <PageHead title={t('backfill.list')} name={t('backfill.list')} />
      {backfills.error && !rows && <ProblemNotice error={backfills.error} onRetry={() => void backfills.refetch()} />}
      {!rows && !backfills.error && <Waiting rows={4} />}
      {backfills.data?.partial && <PartialNotice />}
      {nothing && (
        <EmptyPage icon="undo" title={t('backfill.none')}>
          <p>{t('backfill.intro')}</p>
          <Link to="/jobs">{t('job.allJobs')}</Link>
        </EmptyPage>
      )}
      {rows && !nothing && (
        <>
          <p className="small dim">{t('backfill.intro')}</p>
          {rows.length > 0 ? <DataTable cards caption={t('backfill.list')} columns={columns} rows={rows} rowId={({ id = '' }) => id} busy={backfills.isPlaceholderData} /> : <p className="dim">{t('backfill.noneHere')}</p>}
          <Pager pages={pages} nextCursor={backfills.data?.nextCursor} />
        </>
      )}
    </>
  );
}
