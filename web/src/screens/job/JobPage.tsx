import { Tabs } from '@mantine/core';
import { Link, Navigate, useNavigate, useParams, useSearch } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { useJob } from '../../api/jobs.ts';
import { Problem } from '../../api/problem.ts';
import type { Job } from '../../api/types.ts';
import { jobPlaceOf } from '../../lib/jobPlace.ts';
import { jobTabs, type JobSearch } from '../../lib/searchParams.ts';
import { useCan } from '../../parts/session.ts';
import { Panel } from '../../parts/Panel.tsx';
import { ProblemNotice } from '../../parts/ProblemNotice.tsx';
import { hasSchedule } from '../../parts/scheduleText.ts';
import { Waiting } from '../../parts/Waiting.tsx';
import { AfterPanel } from './AfterPanel.tsx';
import { BackfillsPanel } from './BackfillsPanel.tsx';
import { DefinitionPanel } from './DefinitionPanel.tsx';
import { DeletedJob } from './DeletedJob.tsx';
import { GraphPanel } from './GraphPanel.tsx';
import { JobFires, NextFires } from './FiresPanels.tsx';
import { HooksPanel } from './HooksPanel.tsx';
import { JobHead } from './JobHead.tsx';
import classes from './JobPage.module.css';
import { PlacementPanel } from './PlacementPanel.tsx';
import { ReplicasPanel } from './ReplicasPanel.tsx';
import { RunningNow } from './RunningNow.tsx';
import { RunsPanel } from './RunsPanel.tsx';
import { StatisticsPanel } from './StatisticsPanel.tsx';
import { useUpcoming } from './useUpcoming.ts';
import { VersionsPanel } from './VersionsPanel.tsx';
import { PoliciesPanel, RunbookPanel, WhatItRuns } from './WhatItRuns.tsx';

export function JobPage() {
  const { name } = useParams({ from: '/jobs/$name' });
  // Runs of steps and backfills have jobs without a page of their own.
  const place = jobPlaceOf(name);
  return place.name === name ? <NamedJob name={name} /> : <Navigate to="/jobs/$name" params={{ name: place.name }} search={place.search} replace />;
}

function NamedJob({ name }: { name: string }) {
  const job = useJob(name, { live: true });
  if (job.error instanceof Problem && job.error.status === 404) return <DeletedJob name={name} />;
  if (job.error && !job.data) return <ProblemNotice error={job.error} onRetry={() => void job.refetch()} />;
  if (!job.data) return <Waiting rows={8} />;
  // Another job is a new page: no content of the previous one is shown.
  return <JobView key={job.data.job.meta.uid} job={job.data.job} />;
}

function JobView({ job }: { job: Job }) {
  const { t } = useTranslation();
  const upcoming = useUpcoming(job);
  const { tab = 'runs', view, status, cause, range, version, with: other, step, run } = useSearch({ from: '/jobs/$name' });
  const navigate = useNavigate();
  const mayRun = useCan('operator', job.group ?? '');
  const mayEdit = useCan('editor', job.group ?? '');
  const show = (search: JobSearch) => void navigate({ to: '/jobs/$name', params: { name: job.name }, search, replace: true, resetScroll: false });
  // The definition is visible only with a role in the job's group.
  const tabs = (['runs', ...jobTabs] as const).filter((value) => (!job.meta.hidden || (value !== 'versions' && value !== 'definition')) && (value !== 'graph' || job.steps) && (value !== 'backfills' || hasSchedule(job)));
  const shown = tabs.find((value) => value === tab) ?? 'runs';
  return (
    <>
      <JobHead job={job} words={upcoming.preview.data?.description} />
      <RunningNow job={job.name} mayKill={mayRun} />
      <Tabs value={shown} keepMounted={false}>
        <Tabs.List className={classes.tabs} aria-label={t('job.tabs')}>
          {tabs.map((value) => (
            <Tabs.Tab
              key={value} value={value}
              renderRoot={(props) => <Link to="/jobs/$name" params={{ name: job.name }} search={value === 'runs' ? {} : { tab: value }} replace resetScroll={false} activeProps={{}} {...props} />}
            >
              {t(`job.tab.${value}`)}
            </Tabs.Tab>
          ))}
        </Tabs.List>
        <Tabs.Panel value="runs" className={classes.stack}>
          <RunsPanel name={job.name} mayRun={mayRun} shown={{ ...(view && { view }), ...(status && { status }), ...(cause && { cause }) }} onShow={show} />
          <div className={classes.columns}>
            <div className={classes.stack}>
              <RunbookPanel job={job} />
              <WhatItRuns job={job} />
              <PoliciesPanel job={job} />
            </div>
            <div className={`${classes.stack} ${classes.first}`}>
              <AfterPanel job={job} />
              {job.daemon ? <ReplicasPanel job={job} mayRestart={mayRun} /> : <Panel title={t('job.nextFires')}><NextFires job={job} upcoming={upcoming} /></Panel>}
              <PlacementPanel name={job.name} group={job.group} />
              {mayRun && !job.daemon && <HooksPanel job={job} mayEdit={mayEdit} />}
            </div>
          </div>
        </Tabs.Panel>
        <Tabs.Panel value="graph">
          <GraphPanel job={job} step={step} run={run} onShow={(next) => show({ tab: 'graph', ...next })} />
        </Tabs.Panel>
        <Tabs.Panel value="ledger">
          <JobFires job={job} upcoming={upcoming} />
        </Tabs.Panel>
        <Tabs.Panel value="backfills">
          <BackfillsPanel job={job} mayRun={mayRun} />
        </Tabs.Panel>
        <Tabs.Panel value="statistics">
          <StatisticsPanel job={job} step={step} range={range} onShow={(next) => show({ tab: 'statistics', ...next })} />
        </Tabs.Panel>
        <Tabs.Panel value="versions">
          <VersionsPanel
            name={job.name} current={job.meta.version} mayEdit={mayEdit} picked={version} other={other}
            onPick={(picked, next) => show({ tab: 'versions', version: picked, ...(next && { with: next }) })}
          />
        </Tabs.Panel>
        <Tabs.Panel value="definition">
          <DefinitionPanel job={job} />
        </Tabs.Panel>
      </Tabs>
    </>
  );
}
