import { Button } from '@mantine/core';
import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { useMemo, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { useJobs } from '../../api/jobs.ts';
import type { Job, Role } from '../../api/types.ts';
import { useRights } from '../../app/session.ts';
import { DataTable } from '../../parts/DataTable.tsx';
import { DeleteJobDialog } from '../../parts/DeleteJobDialog.tsx';
import { Icon } from '../../parts/icons.tsx';
import { PauseOrResume } from '../../parts/PauseOrResume.tsx';
import { PageHead } from '../../parts/PageHead.tsx';
import { Pager } from '../../parts/Pager.tsx';
import { ProblemNotice } from '../../parts/ProblemNotice.tsx';
import { SearchField } from '../../parts/SearchField.tsx';
import { useCursorPages } from '../../parts/useCursorPages.ts';
import { useRunNow } from '../../parts/useRunNow.tsx';
import { Waiting } from '../../parts/Waiting.tsx';
import { NoJobs, NoMatch } from './EmptyJobs.tsx';
import { LastDay } from './LastDay.tsx';
import { jobColumns } from './columns.tsx';

const shown = ['results', 'stats'] as const;

export function JobsPage() {
  const { t } = useTranslation();
  const { q = '' } = useSearch({ from: '/jobs' });
  const navigate = useNavigate();
  const pages = useCursorPages(q);
  const jobs = useJobs(q, pages.cursor, shown);
  const may = useRights();
  const mayEdit = may('editor');
  const { run, ask, dialog } = useRunNow();
  const [pausing, setPausing] = useState<Job | undefined>();
  const [deleting, setDeleting] = useState<string | undefined>();
  const columns = useMemo(() => {
    const mayIn = (role: Role) => (job: Job) => may(role, job.group ?? '');
    return jobColumns(t, { mayRun: mayIn('operator'), mayEdit: mayIn('editor'), onRun: run, onAsk: ask, onPause: setPausing, onDelete: setDeleting });
  }, [t, may, run, ask]);
  const search = (text: string) => void navigate({ to: '/jobs', search: text === '' ? {} : { q: text }, replace: true });
  const rows = jobs.data?.items;
  const empty = rows?.length === 0 && pages.page === 1;

  return (
    <>
      <PageHead title={t('jobs.title')} name={t('jobs.title')}>
        {(q !== '' || !empty) && <SearchField label={t('jobs.search')} value={q} onChange={search} />}
        {mayEdit && (
          <Button renderRoot={(props) => <Link to="/new/job" {...props} />} leftSection={<Icon name="plus" size={16} />}>
            {t('jobs.new')}
          </Button>
        )}
      </PageHead>
      {q === '' && !empty && <LastDay />}
      {jobs.error && !rows && <ProblemNotice error={jobs.error} onRetry={() => void jobs.refetch()} />}
      {!rows && !jobs.error && <Waiting rows={8} />}
      {empty && (q === '' ? <NoJobs mayEdit={mayEdit} /> : <NoMatch q={q} onClear={() => search('')} />)}
      {rows && !empty && (
        <>
          <DataTable caption={t('jobs.table')} columns={columns} rows={rows} rowId={(job) => job.name} busy={jobs.isPlaceholderData} />
          <Pager pages={pages} nextCursor={jobs.data?.nextCursor} />
        </>
      )}
      {dialog}
      {pausing && <PauseOrResume job={pausing} onClose={() => setPausing(undefined)} />}
      {deleting !== undefined && <DeleteJobDialog name={deleting} onClose={() => setDeleting(undefined)} />}
    </>
  );
}
