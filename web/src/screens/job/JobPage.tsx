import { Button } from '@mantine/core';
import { Link, useNavigate, useParams } from '@tanstack/react-router';
import { useMemo, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { useJob } from '../../api/jobs.ts';
import { Problem } from '../../api/problem.ts';
import { useRuns } from '../../api/runs.ts';
import { usePreview } from '../../api/schedules.ts';
import type { Job } from '../../api/types.ts';
import { useCan } from '../../app/session.ts';
import { DataTable } from '../../parts/DataTable.tsx';
import { DeleteJobDialog } from '../../parts/DeleteJobDialog.tsx';
import { EmptyPage } from '../../parts/EmptyPage.tsx';
import { FireList } from '../../parts/FireList.tsx';
import { Icon } from '../../parts/icons.tsx';
import { PageHead } from '../../parts/PageHead.tsx';
import { Panel } from '../../parts/Panel.tsx';
import { PlainText } from '../../parts/PlainText.tsx';
import { ProblemNotice } from '../../parts/ProblemNotice.tsx';
import { runColumns } from '../../parts/runColumns.tsx';
import { useRunNow } from '../../parts/useRunNow.tsx';
import { Waiting } from '../../parts/Waiting.tsx';
import { DefinitionFacts } from './DefinitionFacts.tsx';
import classes from './JobPage.module.css';

export function JobPage() {
  const { t } = useTranslation();
  const { name } = useParams({ from: '/jobs/$name' });
  const job = useJob(name, { live: true });
  if (job.error instanceof Problem && job.error.status === 404) {
    return (
      <EmptyPage icon="question" title={t('job.notFound', { name })}>
        <Link to="/jobs">{t('job.allJobs')}</Link>
      </EmptyPage>
    );
  }
  if (job.error && !job.data) return <ProblemNotice error={job.error} onRetry={() => void job.refetch()} />;
  if (!job.data) return <Waiting rows={8} />;
  return <JobView job={job.data.job} />;
}

function JobView({ job }: { job: Job }) {
  const { t } = useTranslation();
  return (
    <>
      <PageHead
        name={job.name}
        title={
          <>
            {job.title ? <PlainText>{job.title}</PlainText> : job.name}
            {job.title && <span className={classes.name}>{job.name}</span>}
          </>
        }
      >
        <Acts name={job.name} />
      </PageHead>
      <div className={classes.columns}>
        <Panel title={t('job.definition')}>
          <DefinitionFacts job={job} />
        </Panel>
        <Panel title={t('job.nextFires')}>{job.cronExpr ? <NextFires job={job} /> : <p className="dim">{t('job.noSchedule')}</p>}</Panel>
      </div>
      <JobRuns name={job.name} />
    </>
  );
}

function Acts({ name }: { name: string }) {
  const { t } = useTranslation();
  const navigate = useNavigate();
  const { run, isPending } = useRunNow();
  const mayRun = useCan('operator');
  const mayEdit = useCan('editor');
  const [deleting, setDeleting] = useState(false);
  return (
    <>
      {mayRun && <Button leftSection={<Icon name="play" size={16} />} loading={isPending} onClick={() => run(name)}>{t('jobs.run')}</Button>}
      {mayEdit && (
        <>
          <Button variant="default" leftSection={<Icon name="pencil" size={16} />} renderRoot={(props) => <Link to="/jobs/$name/edit" params={{ name }} {...props} />}>
            {t('jobs.edit')}
          </Button>
          <Button variant="default" leftSection={<Icon name="trash" size={16} />} onClick={() => setDeleting(true)}>{t('jobs.delete')}</Button>
        </>
      )}
      {deleting && <DeleteJobDialog name={name} onClose={() => setDeleting(false)} onDeleted={() => void navigate({ to: '/jobs' })} />}
    </>
  );
}

function NextFires({ job }: { job: Job }) {
  const { i18n } = useTranslation();
  const preview = usePreview({ name: job.name, cronExpr: job.cronExpr ?? '', timezone: job.timezone, dst: job.dst, count: 10 }, i18n.language);
  if (preview.error && !preview.data) return <ProblemNotice error={preview.error} />;
  return preview.data ? <FireList preview={preview.data} /> : <Waiting />;
}

function JobRuns({ name }: { name: string }) {
  const { t, i18n } = useTranslation();
  const runs = useRuns({ job: name }, '', { limit: 20 });
  const columns = useMemo(() => runColumns(t, i18n.language, false), [t, i18n.language]);
  const rows = runs.data?.items;
  return (
    <Panel title={t('job.runs')} side={rows && rows.length > 0 && <Link to="/runs" search={{ job: name }}>{t('job.allRuns')}</Link>}>
      {runs.error && !rows && <ProblemNotice error={runs.error} />}
      {!rows && !runs.error && <Waiting />}
      {rows?.length === 0 && <p className="dim">{t('job.noRuns')} {t('job.noRunsText')}</p>}
      {rows && rows.length > 0 && <DataTable caption={t('job.runs')} columns={columns} rows={rows} rowId={(run) => run.id} />}
    </Panel>
  );
}
