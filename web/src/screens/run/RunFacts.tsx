import { Link } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { useJob } from '../../api/jobs.ts';
import type { Run } from '../../api/types.ts';
import { useVersion } from '../../api/versions.ts';
import { useIsGone } from '../../api/workers.ts';
import { formatSeconds, secondsBetween } from '../../lib/duration.ts';
import { listed } from '../../lib/lists.ts';
import { formatTime } from '../../lib/time.ts';
import { actorText } from '../../parts/actorText.ts';
import { BackfillDate, backfillOf } from '../../parts/BackfillDate.tsx';
import { CopyLine } from '../../parts/CopyLine.tsx';
import { versionNumber } from '../../lib/versionNumber.ts';
import { Elapsed } from '../../parts/Elapsed.tsx';
import { Facts } from '../../parts/Facts.tsx';
import { Panel } from '../../parts/Panel.tsx';
import { PlainText } from '../../parts/PlainText.tsx';
import { Why } from '../../parts/Why.tsx';
import classes from './RunPage.module.css';
import { RunOutputs } from './RunOutputs.tsx';
import { RunParams } from './RunParams.tsx';

/** Properties of a run besides its time line. */
export function RunFacts({ run }: { run: Run }) {
  const { t, i18n } = useTranslation();
  const duration = secondsBetween(run.startedAt, run.endedAt);
  const definition = useJob(run.job, { enabled: !run.hidden }).data?.job;
  const declared = definition?.params;
  const hasParams = Object.keys({ ...declared, ...run.params }).length > 0;
  const going = run.status === 'running';
  const isGone = useIsGone(going);
  const worker = run.workerName ?? run.worker;
  // The reason of its end is shown above if it needs an explanation.
  const plainReason = run.reason && (run.status === 'running' || run.status === 'succeeded');
  return (
    <Panel title={t('common.about')}>
      <Facts
        entries={[
          [t('job.type'), definition?.type && <code>{definition.type}</code>],
          [t('run.reason'), plainReason && run.reason && <Why reason={run.reason} output />],
          [t('run.exitCode'), run.exitCode !== undefined && <strong>{run.exitCode}</strong>],
          [t('run.signal'), run.signal],
          [t('run.duration'), run.status === 'running' ? <Elapsed run={run} /> : duration !== undefined && formatSeconds(duration, i18n.language)],
          [t('run.cause'), run.cause === 'backfill' ? <BackfillDate at={run.plannedAt} backfill={backfillOf(run)} /> : t(`cause.${run.cause}`)],
          [t('run.schedule'), run.schedule && <PlainText>{run.schedule}</PlainText>],
          [t('run.triggeredBy'), run.triggeredBy && <span className="break">{actorText(t, run.triggeredBy)}</span>],
          [t('run.trace'), run.traceparent && <PlainText>{run.traceparent.split('-')[1] ?? ''}</PlainText>],
          [t('run.note'), run.note && <PlainText>{run.note}</PlainText>],
          [t('run.parents'), run.parents && <RunParents parents={run.parents} />],
          [t('run.followers'), run.noAfter && t('run.noFollowers')],
          [t('run.attempt'), run.attempt > 0 && String(run.attempt)],
          [t('runs.gapFact'), run.gap && t(run.reason?.data?.count === 'at_least' ? 'runs.gapAtLeast' : 'runs.gap', { count: run.gap.count, from: formatTime(run.gap.from, i18n.language) })],
          [t('run.params'), hasParams && <RunParams run={run} />],
          [t('run.outputs'), run.outputs && <RunOutputs outputs={run.outputs} />],
          [t('run.worker'), worker && (
            <>
              <Link to="/runs" search={{ worker: run.worker ?? '' }}><PlainText>{worker}</PlainText></Link>
              {going && isGone(run.worker) && <div className="small" data-worker-gone="">{t('overview.onGoneText')}</div>}
            </>
          )],
          [t('run.leftover'), run.leftover !== undefined && t('run.leftoverText', { count: run.leftover })],
          [t('run.version'), run.jobVersion !== undefined && <VersionLink job={run.job} version={run.jobVersion} />],
          [t('run.ledger'), <Link to="/ledger" search={ledgerAround(run)}>{t('run.ledgerLink')}</Link>],
        ]}
      />
      <div className={classes.id}>
        <span className="dim">{t('run.id')}</span>
        <CopyLine>{run.id}</CopyLine>
      </div>
    </Panel>
  );
}

/** The runs whose successes the fire of the run has consumed. */
function RunParents({ parents }: { parents: NonNullable<Run['parents']> }) {
  const { i18n } = useTranslation();
  return parents.map(({ job, run, plannedAt }) => (
    <div key={job} data-parent-run={job}>
      <Link to="/runs/$id" params={{ id: run }}><PlainText>{listed([job, formatTime(plannedAt, i18n.language)], i18n.language)}</PlainText></Link>
    </div>
  ));
}

/** A minute around the run's fire. */
function ledgerAround(run: Run): { job: string; range: string; from: string; to: string } {
  const at = Date.parse(run.plannedAt);
  return { job: run.job, range: 'custom', from: new Date(at - 60_000).toISOString(), to: new Date(at + 60_000).toISOString() };
}

/** The job's version at the time of the run, beside the current one. */
function VersionLink({ job, version }: { job: string; version: number }) {
  const { t } = useTranslation();
  const current = useJob(job).data?.job.meta;
  const now = current?.version;
  const differs = now !== undefined && now !== version;
  const then = useVersion(job, now === version ? undefined : version).data;
  const number = now === version ? current?.number : then?.number;
  return (
    <>
      <Link to="/jobs/$name" params={{ name: job }} className={classes.beside} search={{ tab: 'versions', version, ...(differs && { with: now }) }} title={t('versions.revision', { revision: version })}>{versionNumber({ version, number })}</Link>{' '}
      {now !== undefined && <span className="small dim">{t(differs ? 'run.versionDiffers' : 'run.versionSame')}</span>}
    </>
  );
}
