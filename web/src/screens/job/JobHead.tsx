import { Alert, Button, Menu } from '@mantine/core';
import { Link, useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { usePlacement } from '../../api/jobs.ts';
import { useVersions } from '../../api/versions.ts';
import type { Job } from '../../api/types.ts';
import { useCan } from '../../parts/session.ts';
import { visible } from '../../lib/visible.ts';
import { hasSchedule, scheduleText, zoneOf, zonesOf } from '../../parts/scheduleText.ts';
import { effective } from '../../lib/effective.ts';
import { isMachineLabel } from '../../lib/machineLabels.ts';
import { CauseLinks } from '../../parts/CauseLinks.tsx';
import { DeleteJobDialog } from '../../parts/DeleteJobDialog.tsx';
import { FromDefaults } from '../../parts/FromDefaults.tsx';
import { Filled, slot } from '../../parts/Filled.tsx';
import { Icon } from '../../parts/icons.tsx';
import { JobState } from '../../parts/JobState.tsx';
import { PageHead } from '../../parts/PageHead.tsx';
import { PauseOrResume } from '../../parts/PauseOrResume.tsx';
import { PlainText } from '../../parts/PlainText.tsx';
import { RunButton } from '../../parts/RunButton.tsx';
import { RelativeTime, TimeText } from '../../parts/TimeText.tsx';
import { Why } from '../../parts/Why.tsx';
import { JobFlags } from '../../parts/JobFlags.tsx';
import classes from './JobHead.module.css';

/** Title, schedule, state and actions of the job. */
export function JobHead({ job, words }: { job: Job; words: string | undefined }) {
  const { t, i18n } = useTranslation();
  const next = job.meta.nextFire;
  // The defaults that have the time zone.
  const zonedBy = [...new Set([...effective(job).from].flatMap(([location, of]) => (location.endsWith('timezone') ? [of] : [])))];
  const labels = Object.entries(job.labels ?? {}).filter(([key]) => !isMachineLabel(key));
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
      <div className={classes.about}>
        <span className={classes.when}>
          <Icon name="calendar" size={15} />
          {hasSchedule(job) ? <><span className={classes.words}>{words && visible(words)}</span> <span className="dim">{zonesOf(job).join(', ')}</span> {zonedBy.map((of) => <FromDefaults key={of} of={of} />)}</> : scheduleText(t, i18n.language, job)}
        </span>
        {next && <span className="nowrap">{t('job.next')} <strong><RelativeTime at={next} zone={zoneOf(job)} ahead /></strong></span>}
        {job.group && <span className="dim">{t('job.inGroup')} <span className={classes.tag}>{job.group}</span></span>}
        {labels.length > 0 && <span className={classes.tags}>{labels.map(([key, value]) => <span key={key} className={classes.tag}>{visible(value === '' ? key : `${key}=${value}`)}</span>)}</span>}
      </div>
      {job.meta.hidden && <Alert color="gray" variant="light" icon={<Icon name="question" />} data-hidden="">{t('job.hidden')}</Alert>}
      {job.meta.paused && <PausedNotice job={job} />}
      {job.meta.overdue ? <OverdueNotice job={job} overdue={job.meta.overdue} /> : !job.meta.paused && <NoWorkerNotice job={job} />}
    </>
  );
}

/** A fire of the job is overdue: no worker has claimed it. */
function OverdueNotice({ job, overdue }: { job: Job; overdue: NonNullable<Job['meta']['overdue']> }) {
  const { t } = useTranslation();
  // The master looks a few times a minute, and the placement is newer.
  const eligible = usePlacement(job.name).data?.items.some((worker) => worker.eligible) === true && overdue.reason?.code === 'no_worker';
  return (
    <Alert color="yellow" variant="light" icon={<Icon name="warn" />} title={t('flags.overdueTitle')} data-overdue="">
      <div><Filled text={t('flags.overdueSince', { at: slot })}><TimeText at={overdue.dueAt} zone={zoneOf(job)} /></Filled></div>
      {eligible && <div>{t('flags.overdueEligible')}</div>}
      {!eligible && overdue.reason && <div className="break"><Why reason={overdue.reason} /></div>}
      {!eligible && <CauseLinks reason={overdue.reason} job={job.name} group={job.group} />}
    </Alert>
  );
}

/** No worker can run the job as it is: its next fires will wait. */
export function NoWorkerNotice({ job }: { job: Job }) {
  const { t } = useTranslation();
  const reason = usePlacement(job.name).data?.reason;
  if (reason?.code !== 'no_worker' && reason?.code !== 'needs_feature') return null;
  return (
    <Alert color="yellow" variant="light" icon={<Icon name="warn" />} title={t('flags.noWorkerTitle')} data-no-worker="">
      <div className="break"><Why reason={reason} /></div>
      <CauseLinks reason={reason} job={job.name} group={job.group} />
    </Alert>
  );
}

/** Reason, user and end of a pause. */
function PausedNotice({ job }: { job: Job }) {
  const { t } = useTranslation();
  // The user who paused the job is in its versions; users without access to them see the rest.
  const versions = useVersions(job.name, { enabled: !job.meta.hidden });
  const pause = versions.data?.pages[0]?.items.find((version) => version.verb === 'pause' || version.verb === 'resume');
  return (
    <Alert color="yellow" variant="light" icon={<Icon name="pause" />} title={t('pause.pausedTitle')}>
      {job.pauseNote && <div className="break"><PlainText>{job.pauseNote}</PlainText></div>}
      {pause?.verb === 'pause' && (
        <div className="small" data-paused-by="">
          {pause.by ? t('job.pausedBy', { who: visible(pause.by) }) : t('pause.paused')} · <TimeText at={pause.at} zone={zoneOf(job)} />
        </div>
      )}
      <div>
        {job.pauseUntil ? <Filled text={t('pause.goesOn', { at: slot })}><TimeText at={job.pauseUntil} zone={zoneOf(job)} /></Filled> : t('pause.untilResumed')}
      </div>
    </Alert>
  );
}

function Acts({ job }: { job: Job }) {
  const { t } = useTranslation();
  const navigate = useNavigate();
  const mayRun = useCan('operator', job.group ?? '');
  const mayEdit = useCan('editor', job.group ?? '');
  // The job at the time the dialog was opened: its content must not change.
  const [pausing, setPausing] = useState<Job | undefined>();
  const [deleting, setDeleting] = useState(false);
  return (
    <>
      {mayRun && (
        <>
          {!job.daemon && <RunButton job={job} />}
          <Button variant="default" className={classes.act} leftSection={<Icon name={job.meta.paused ? 'play' : 'pause'} size={16} />} onClick={() => setPausing(job)}>
            {job.meta.paused ? t('pause.resume') : t('pause.pause')}
          </Button>
        </>
      )}
      {mayEdit && (
        <>
          <Button variant="default" className={classes.act} leftSection={<Icon name="pencil" size={16} />} renderRoot={(props) => <Link to="/jobs/$name/edit" params={{ name: job.name }} {...props} />}>
            {t('jobs.edit')}
          </Button>
          <Menu position="bottom-end">
            <Menu.Target>
              <Button variant="default" px="xs" aria-label={t('job.more')} title={t('job.more')}><Icon name="dots" size={16} /></Button>
            </Menu.Target>
            <Menu.Dropdown>
              <Menu.Item leftSection={<Icon name="copy" size={16} />} renderRoot={(props) => <Link to="/new/job" search={{ from: job.name }} {...props} />}>{t('job.duplicate')}</Menu.Item>
              <Menu.Item color="red" leftSection={<Icon name="trash" size={16} />} onClick={() => setDeleting(true)}>{t('jobs.delete')}</Menu.Item>
            </Menu.Dropdown>
          </Menu>
        </>
      )}
      {pausing && <PauseOrResume job={pausing} onClose={() => setPausing(undefined)} />}
      {deleting && <DeleteJobDialog name={job.name} title={job.title} onClose={() => setDeleting(false)} onDeleted={() => void navigate({ to: '/jobs' })} />}
    </>
  );
}
