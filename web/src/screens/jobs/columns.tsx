import { ActionIcon, Menu } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import type { TFunction } from 'i18next';
import type { Job } from '../../api/types.ts';
import { column, type Columns } from '../../parts/DataTable.tsx';
import { formatMs } from '../../lib/figures.ts';
import { Flag } from '../../parts/Flag.tsx';
import { Icon } from '../../parts/icons.tsx';
import { JobState } from '../../parts/JobState.tsx';
import { PlainText } from '../../parts/PlainText.tsx';
import { Sparkline } from '../../parts/Sparkline.tsx';
import { RelativeTime } from '../../parts/TimeText.tsx';
import classes from './columns.module.css';

interface Acts {
  mayRun: (job: Job) => boolean;
  mayEdit: (job: Job) => boolean;
  onRun: (job: Job) => void;
  onAsk: (job: Job) => void;
  onPause: (job: Job) => void;
  onDelete: (name: string) => void;
}

export function jobColumns(t: TFunction, acts: Acts): Columns<Job> {
  return [
    column<Job>('name', t('jobs.name'), (job) => <NameCell job={job} />),
    column<Job>('schedule', t('jobs.schedule'), (job) => <ScheduleCell t={t} job={job} />, false),
    column<Job>('results', t('jobs.results'), (job) => <Sparkline job={job.name} results={job.meta.results} />, false),
    column<Job>('next', t('jobs.nextFire'), (job) => (job.meta.nextFire ? <RelativeTime at={job.meta.nextFire} zone={job.timezone} /> : <span className="dim">{t('common.none')}</span>)),
    column<Job>('p95', t('jobs.p95'), (job) => <span className="nowrap">{job.meta.stats && job.meta.stats.samples > 0 ? formatMs(job.meta.stats.p95Ms) : <span className="dim">{t('common.none')}</span>}</span>, false),
    column<Job>('actions', t('common.actions'), (job) => <ActionsCell t={t} job={job} acts={acts} />),
  ];
}

function NameCell({ job }: { job: Job }) {
  return (
    <div className={classes.name}>
      <span className="spaced">
        <Link to="/jobs/$name" params={{ name: job.name }}>
          {job.title ? <PlainText>{job.title}</PlainText> : job.name}
        </Link>
        <JobState job={job} />
        <JobFlags job={job} />
      </span>
      {(job.title || job.group) && (
        <span className="small dim">
          {[job.group, job.title ? job.name : ''].filter(Boolean).join(' · ')}
        </span>
      )}
      {job.meta.results && job.meta.results.length > 0 && <span className="narrowOnly"><Sparkline job={job.name} results={job.meta.results} /></span>}
    </div>
  );
}

/** What is unusual about a job just now. */
export function JobFlags({ job: { meta } }: { job: Job }) {
  return (
    <>
      {meta.overdue && <Flag kind="overdue" />}
      {meta.late && !meta.overdue && <Flag kind="late" />}
      {meta.slow && <Flag kind="slow" />}
    </>
  );
}

function ScheduleCell({ t, job }: { t: TFunction; job: Job }) {
  if (!job.cronExpr) return <span className="dim">{t('jobs.onlyTriggered')}</span>;
  return (
    <div className={classes.name}>
      <code>{job.cronExpr}</code>
      <span className="small dim">{job.timezone}</span>
    </div>
  );
}

function ActionsCell({ t, job, acts }: { t: TFunction; job: Job; acts: Acts }) {
  if (!acts.mayRun(job)) return null;
  return (
    <div className={classes.actions}>
      <ActionIcon variant="subtle" size="lg" aria-label={t('jobs.runOf', { name: job.name })} title={t('jobs.run')} onClick={() => acts.onRun(job)}>
        <Icon name="play" />
      </ActionIcon>
      <Menu position="bottom-end">
        <Menu.Target>
          <ActionIcon variant="subtle" color="gray" size="lg" aria-label={t('jobs.actionsFor', { name: job.name })}>
            <Icon name="dots" />
          </ActionIcon>
        </Menu.Target>
        <Menu.Dropdown>
          <Menu.Item leftSection={<Icon name="gear" size={16} />} onClick={() => acts.onAsk(job)}>
            {t('jobs.runWith')}
          </Menu.Item>
          <Menu.Item leftSection={<Icon name={job.meta.paused ? 'play' : 'pause'} size={16} />} onClick={() => acts.onPause(job)}>
            {job.meta.paused ? t('pause.resume') : t('pause.pause')}
          </Menu.Item>
          {acts.mayEdit(job) && (
            <>
              <Menu.Item renderRoot={(props) => <Link to="/jobs/$name/edit" params={{ name: job.name }} {...props} />} leftSection={<Icon name="pencil" size={16} />}>
                {t('jobs.edit')}
              </Menu.Item>
              <Menu.Item color="red" leftSection={<Icon name="trash" size={16} />} onClick={() => acts.onDelete(job.name)}>
                {t('jobs.delete')}
              </Menu.Item>
            </>
          )}
        </Menu.Dropdown>
      </Menu>
    </div>
  );
}
