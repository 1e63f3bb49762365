import { Alert, Button, Tabs } from '@mantine/core';
import { Link, useNavigate, useParams, useSearch } from '@tanstack/react-router';
import { useMemo, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { useJob } from '../../api/jobs.ts';
import { Problem } from '../../api/problem.ts';
import { useRuns } from '../../api/runs.ts';
import type { StatisticsRange } from '../../api/statistics.ts';
import type { Job } from '../../api/types.ts';
import { useCan } from '../../app/session.ts';
import { DataTable } from '../../parts/DataTable.tsx';
import { DeleteJobDialog } from '../../parts/DeleteJobDialog.tsx';
import { EmptyPage } from '../../parts/EmptyPage.tsx';
import { Facts } from '../../parts/Facts.tsx';
import { Icon } from '../../parts/icons.tsx';
import { JobState } from '../../parts/JobState.tsx';
import { PageHead } from '../../parts/PageHead.tsx';
import { Panel } from '../../parts/Panel.tsx';
import { PauseOrResume } from '../../parts/PauseOrResume.tsx';
import { PlainText } from '../../parts/PlainText.tsx';
import { ProblemNotice } from '../../parts/ProblemNotice.tsx';
import { RunButton } from '../../parts/RunButton.tsx';
import { runColumns } from '../../parts/runColumns.tsx';
import { TimeText } from '../../parts/TimeText.tsx';
import { Waiting } from '../../parts/Waiting.tsx';
import { Why } from '../../parts/Why.tsx';
import { JobFlags } from '../jobs/columns.tsx';
import { DefinitionFacts } from './DefinitionFacts.tsx';
import { JobFires, NextFires } from './FiresPanels.tsx';
import classes from './JobPage.module.css';
import { PlacementPanel } from './PlacementPanel.tsx';
import { policies } from './policies.ts';
import { StatisticsPanel } from './StatisticsPanel.tsx';
import { useUpcoming } from './useUpcoming.ts';

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
  // Another job is another page: nothing of the one before is shown in its place.
  return <JobView key={job.data.job.meta.uid} job={job.data.job} />;
}

function JobView({ job }: { job: Job }) {
  const { t, i18n } = useTranslation();
  const upcoming = useUpcoming(job);
  const { tab, range } = useSearch({ from: '/jobs/$name' });
  const navigate = useNavigate();
  const show = (search: { tab?: 'statistics'; range?: StatisticsRange }) => void navigate({ to: '/jobs/$name', params: { name: job.name }, search, replace: true });
  return (
    <>
      <PageHead
        name={job.name}
        title={
          <>
            <span className="spaced">
              {job.title ? <PlainText>{job.title}</PlainText> : job.name}
              <JobState job={job} />
              <JobFlags job={job} />
            </span>
            {job.title && <span className={classes.name}>{job.name}</span>}
          </>
        }
      >
        <Acts job={job} />
      </PageHead>
      {job.meta.hidden && <Alert color="gray" variant="light" icon={<Icon name="question" />}>{t('job.hidden')}</Alert>}
      {job.meta.paused && <PausedNotice job={job} />}
      {job.meta.overdue && <OverdueNotice overdue={job.meta.overdue} zone={job.timezone} />}
      <Tabs value={tab ?? 'overview'} onChange={(value) => show(value === 'statistics' ? { tab: 'statistics', ...(range && { range }) } : {})} keepMounted={false}>
        <Tabs.List className={classes.tabs} aria-label={t('job.tabs')}>
          <Tabs.Tab value="overview">{t('job.overview')}</Tabs.Tab>
          <Tabs.Tab value="statistics">{t('statistics.title')}</Tabs.Tab>
        </Tabs.List>
        <Tabs.Panel value="overview" className={classes.stack}>
          <div className={classes.columns}>
            <JobFires job={job} upcoming={upcoming} />
            <div className={classes.stack}>
              <Panel title={t('job.nextFires')}><NextFires job={job} upcoming={upcoming} /></Panel>
              <PlacementPanel name={job.name} />
            </div>
          </div>
          <JobRuns name={job.name} />
          <div className={classes.columns}>
            <Panel title={t('job.definition')}>
              <DefinitionFacts job={job} />
            </Panel>
            <Panel title={t('policy.title')}>
              <Facts entries={policies(t, i18n.language, job)} />
            </Panel>
          </div>
        </Tabs.Panel>
        <Tabs.Panel value="statistics">
          <StatisticsPanel job={job.name} range={range ?? 'month'} onRange={(next) => show({ tab: 'statistics', range: next })} />
        </Tabs.Panel>
      </Tabs>
    </>
  );
}

/** A fire of the job was due, and nobody took it. */
function OverdueNotice({ overdue, zone }: { overdue: NonNullable<Job['meta']['overdue']>; zone: string | undefined }) {
  const { t } = useTranslation();
  return (
    <Alert color="yellow" variant="light" icon={<Icon name="warn" />} title={t('flags.overdueTitle')} data-overdue="">
      <div>{t('flags.overdueSince')} <TimeText at={overdue.dueAt} zone={zone} /></div>
      {overdue.reason && <div className="break"><Why reason={overdue.reason} /></div>}
    </Alert>
  );
}

/** Why the job is paused, and until when. */
function PausedNotice({ job }: { job: Job }) {
  const { t } = useTranslation();
  return (
    <Alert color="yellow" variant="light" icon={<Icon name="pause" />} title={t('pause.pausedTitle')}>
      {job.pauseNote && <div className="break"><PlainText>{job.pauseNote}</PlainText></div>}
      <div>
        {job.pauseUntil ? t('pause.goesOn') : t('pause.untilResumed')} {job.pauseUntil && <TimeText at={job.pauseUntil} zone={job.timezone} />}
      </div>
    </Alert>
  );
}

function Acts({ job }: { job: Job }) {
  const { t } = useTranslation();
  const navigate = useNavigate();
  const mayRun = useCan('operator', job.group ?? '');
  const mayEdit = useCan('editor', job.group ?? '');
  // As the job was when it was asked for: what the dialog is about does not change under it.
  const [pausing, setPausing] = useState<Job | undefined>();
  const [deleting, setDeleting] = useState(false);
  return (
    <>
      {mayRun && (
        <>
          <RunButton job={job} />
          <Button variant="default" leftSection={<Icon name={job.meta.paused ? 'play' : 'pause'} size={16} />} onClick={() => setPausing(job)}>
            {job.meta.paused ? t('pause.resume') : t('pause.pause')}
          </Button>
        </>
      )}
      {mayEdit && (
        <>
          <Button variant="default" leftSection={<Icon name="pencil" size={16} />} renderRoot={(props) => <Link to="/jobs/$name/edit" params={{ name: job.name }} {...props} />}>
            {t('jobs.edit')}
          </Button>
          <Button variant="default" leftSection={<Icon name="trash" size={16} />} onClick={() => setDeleting(true)}>{t('jobs.delete')}</Button>
        </>
      )}
      {pausing && <PauseOrResume job={pausing} onClose={() => setPausing(undefined)} />}
      {deleting && <DeleteJobDialog name={job.name} onClose={() => setDeleting(false)} onDeleted={() => void navigate({ to: '/jobs' })} />}
    </>
  );
}

function JobRuns({ name }: { name: string }) {
  const { t, i18n } = useTranslation();
  const runs = useRuns({ job: name }, '', { limit: 20 });
  const columns = useMemo(() => runColumns(t, i18n.language, false), [t, i18n.language]);
  const rows = runs.data?.items;
  // That nothing has run yet is said where its fires are.
  if (rows?.length === 0) return null;
  return (
    <Panel title={t('job.runs')} side={rows && <Link to="/runs" search={{ job: name }}>{t('job.allRuns')}</Link>}>
      {runs.error && !rows && <ProblemNotice error={runs.error} />}
      {!rows && !runs.error && <Waiting />}
      {rows && <DataTable caption={t('job.runs')} columns={columns} rows={rows} rowId={(run) => run.id} />}
    </Panel>
  );
}
