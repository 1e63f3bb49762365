import { memo, type ReactNode } from 'react';
import type { Job } from '../../api/types.ts';
import { formatMs, formatRate } from '../../lib/figures.ts';
import { useText } from '../../i18n/useText.ts';
import { expressionsOf, hasSchedule, scheduleText, zoneOf, zonesOf } from '../../parts/scheduleText.ts';
import { noGroup } from '../../lib/jobFilter.ts';
import { localZone } from '../../lib/localTime.ts';
import { isMachineLabel } from '../../lib/machineLabels.ts';
import { Icon } from '../../parts/icons.tsx';
import { JobFlags } from '../../parts/JobFlags.tsx';
import { JobState } from '../../parts/JobState.tsx';
import { PlainLink } from '../../parts/PlainLink.tsx';
import { PlainText } from '../../parts/PlainText.tsx';
import { Sparkline } from '../../parts/Sparkline.tsx';
import { RelativeTime } from '../../parts/TimeText.tsx';
import type { ColumnId } from './columns.ts';
import classes from './JobTable.module.css';

export interface RowProps {
  job: Job;
  /** Index in the whole list. */
  row: number;
  top: number;
  shown: readonly ColumnId[];
  selected: boolean;
  /** The table's keyboard position. */
  current: boolean;
  mayRun: boolean;
  menuOpen: boolean;
}

/**
 * A job in the table. The table identifies click targets by data-act: a row has no handlers of its own, and renders
 * only when its content has changed.
 */
export const JobRow = memo(function JobRow({ job, row, top, shown, selected, current, mayRun, menuOpen }: RowProps) {
  return (
    <div
      role="row" className={classes.row} aria-rowindex={row + 2} aria-selected={selected} data-row={job.name} data-index={row} tabIndex={current ? 0 : -1}
      style={{ transform: `translateY(${top}px)` }}
    >
      <span role="gridcell" className={classes.box}><Box job={job} selected={selected} /></span>
      <span role="gridcell" className={classes.name}><Name job={job} group={!shown.includes('group')} /></span>
      {shown.map((id) => <span key={id} role="gridcell" className={classes.cell}>{cells[id](job)}</span>)}
      <span role="gridcell" className={classes.acts}>{mayRun && <Acts job={job} menuOpen={menuOpen} />}</span>
    </div>
  );
});

/** The same on a phone: a card with the columns below the name. */
export const JobCard = memo(function JobCard({ job, row, top, selected, current, mayRun, menuOpen }: RowProps) {
  const { t } = useText();
  return (
    <div
      role="row" className={classes.card} aria-rowindex={row + 2} aria-selected={selected} data-row={job.name} data-index={row} tabIndex={current ? 0 : -1}
      style={{ transform: `translateY(${top}px)` }}
    >
      <span role="gridcell" className={classes.box}><Box job={job} selected={selected} /></span>
      <span role="gridcell" className={classes.body}>
        <Name job={job} group />
        <Schedule job={job} brief />
        <span className={classes.foot}>
          {job.meta.results && job.meta.results.length > 0 ? <Sparkline job={job.name} results={job.meta.results} /> : <span className="small dim">{t('jobs.neverRun')}</span>}
          {job.meta.nextFire && <span className="small dim"><Icon name="clock" size={12} /> <span className="unseen">{t('jobs.nextFire')}</span> <RelativeTime at={job.meta.nextFire} zone={zoneOf(job)} short ahead /></span>}
        </span>
      </span>
      <span role="gridcell" className={classes.acts}>{mayRun && <Acts job={job} menuOpen={menuOpen} />}</span>
    </div>
  );
});

const cells: Record<ColumnId, (job: Job) => ReactNode> = {
  group: (job) => <Group job={job} />,
  labels: (job) => <Labels job={job} />,
  schedule: (job) => <Schedule job={job} />,
  results: (job) => <Sparkline job={job.name} results={job.meta.results} />,
  last: (job) => <LastFire job={job} />,
  next: (job) => (job.meta.nextFire ? <RelativeTime at={job.meta.nextFire} zone={zoneOf(job)} short ahead /> : <Nothing />),
  p95: (job) => (job.meta.stats && job.meta.stats.samples > 0 ? <Length ms={job.meta.stats.p95Ms} /> : <Nothing />),
  success: (job) => (job.meta.stats?.successRate === undefined ? <Nothing /> : <Share rate={job.meta.stats.successRate} />),
  updated: (job) => <RelativeTime at={job.meta.updatedAt} short />,
};

function Length({ ms }: { ms: number }) {
  const { language } = useText();
  return <span className="nowrap">{formatMs(ms, language)}</span>;
}

function Share({ rate }: { rate: number }) {
  const { language } = useText();
  return <span className="nowrap">{formatRate(rate, language)}</span>;
}

function Nothing() {
  const { t } = useText();
  return <span className="dim">{t('common.none')}</span>;
}

function Box({ job, selected }: { job: Job; selected: boolean }) {
  const { t } = useText();
  return <span role="checkbox" className={classes.tick} data-act="select" aria-label={t('jobs.select', { name: job.name })} aria-checked={selected} tabIndex={-1} />;
}

function Name({ job, group }: { job: Job; group: boolean }) {
  const { t } = useText();
  const below = [group ? job.group : '', job.title ? job.name : ''].filter(Boolean).join(' · ');
  return (
    <span className={classes.lines}>
      <span className={classes.first}>
        <PlainLink href={`/jobs/${job.name}`} className={classes.title} title={job.title ? undefined : job.name}>{job.title ? <PlainText>{job.title}</PlainText> : job.name}</PlainLink>
        <JobState job={job} />
        <JobFlags job={job} />
        {job.meta.hidden && <span className={classes.hidden} title={t('jobs.hiddenText')}><Icon name="key" size={13} /><span className="unseen">{t('jobs.hiddenText')}</span></span>}
      </span>
      {below !== '' && <span className={classes.second} title={below}>{below}</span>}
    </span>
  );
}

function Group({ job }: { job: Job }) {
  if (!job.group) return <Nothing />;
  return <PlainLink href={`/jobs?group=${job.group || noGroup}`} className={classes.quiet} title={job.group}>{job.group}</PlainLink>;
}

function Labels({ job }: { job: Job }) {
  const labels = Object.entries(job.labels ?? {}).filter(([key]) => !isMachineLabel(key)).map(([key, value]) => `${key}=${value}`);
  if (labels.length === 0) return <Nothing />;
  return (
    <span className={classes.labels} title={labels.join('\n')}>
      {labels.slice(0, 3).map((label) => <span key={label} className={classes.label}>{label}</span>)}
      {labels.length > 3 && <span className="small dim">+{labels.length - 3}</span>}
    </span>
  );
}

function Schedule({ job, brief = false }: { job: Job; brief?: boolean }) {
  const { t, language } = useText();
  if (!hasSchedule(job)) return <span className={classes.second}>{scheduleText(t, language, job)}</span>;
  const zone = zonesOf(job).join(', ');
  const expressions = expressionsOf(job).join('; ');
  const words = job.meta.words ?? '';
  const about = [words, ...expressionsOf(job), zone].filter(Boolean).join('\n');
  // The words have times of day in the job's zone, all others on the page are in the reader's.
  const other = words !== '' && zone !== '' && zone !== localZone();
  if (brief) return <span className={classes.second} title={about}>{words || <code>{expressions}</code>}{other && ` · ${zone}`}</span>;
  return (
    <span className={classes.lines} title={about}>
      <span className={classes.line}><code>{expressions}</code>{other && <span className={classes.zone}> {zone}</span>}</span>
      <span className={classes.second}>{words || zone}</span>
    </span>
  );
}

/** Its latest run and result. */
function LastFire({ job }: { job: Job }) {
  const { t } = useText();
  const last = job.meta.results?.[0];
  if (!last) return <Nothing />;
  return (
    <PlainLink href={`/runs/${last.id}`} className={classes.quiet}>
      <RelativeTime at={last.plannedAt} zone={zoneOf(job)} short /><span className="unseen">{t('jobs.lastOf', { name: job.name, status: t(`status.${last.status}`) })}</span>
    </PlainLink>
  );
}

function Acts({ job, menuOpen }: { job: Job; menuOpen: boolean }) {
  const { t } = useText();
  return (
    <>
      <button type="button" className={classes.act} data-act="run" aria-label={t('jobs.runOf', { name: job.name })} title={t('jobs.run')} tabIndex={-1}><Icon name="play" /></button>
      <button type="button" className={classes.act} data-act="menu" aria-label={t('jobs.actionsFor', { name: job.name })} aria-haspopup="menu" aria-expanded={menuOpen} tabIndex={-1}><Icon name="dots" /></button>
    </>
  );
}
