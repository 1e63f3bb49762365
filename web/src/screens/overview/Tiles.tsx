import { Link } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import type { components } from '../../api/schema.gen.ts';
import { formatRate } from '../../lib/figures.ts';
import classes from './Tiles.module.css';

/** A count, and whether there are more. */
export interface Counted {
  count: number;
  more: boolean;
}

interface Props {
  overview: components['schemas']['Overview'];
  /** Current runs. */
  running: number | undefined;
  soon: number | undefined;
  /** Waiting fires, without those of paused jobs. */
  waiting: number | undefined;
  /** Failed fires of the last 24 hours, counted by fire: those whose retry succeeded, or that are acknowledged, are not included. */
  troubles: { failed: Counted; missed: Counted } | undefined;
}

/** Key figures of the cluster, each with a link to the counted items. */
export function Tiles({ overview, running, soon, waiting, troubles }: Props) {
  const { t, i18n } = useTranslation();
  const number = new Intl.NumberFormat(i18n.language);
  const count = (n: number | undefined) => (n === undefined ? '–' : number.format(n));
  const { lastDay: day, workers, jobs } = overview;
  const paused = overview.waitingPaused ?? 0;
  const since = day ? { range: 'custom', from: day.from } as const : { range: 'day' } as const;
  // The list ends at a limit; the statistics do not, but may be a minute behind.
  const failed = counted(troubles?.failed, day && day.total.statuses.failed + day.total.statuses.timed_out + day.total.statuses.lost);
  const missed = counted(troubles?.missed, day && day.total.statuses.missed + day.total.statuses.refused);
  const atLeast = (counted: Counted | undefined) => (counted ? `${number.format(counted.count)}${counted.more ? '+' : ''}` : '–');
  return (
    <ul className={classes.tiles} aria-label={t('overview.numbers')} data-tiles="">
      <li data-tile="running"><Link to="/runs" search={{ status: 'running' }}><Figure name={t('overview.tile.running')} value={count(running)} tone={running ? 'live' : undefined} /></Link></li>
      <li data-tile="waiting"><Link to="/ledger" search={{ status: 'waiting' }}><Figure name={t('overview.tile.waiting')} value={count(waiting)} more={paused > 0 ? t('overview.ofPaused', { count: paused, number: number.format(paused) }) : undefined} /></Link></li>
      <li data-tile="failed"><Link to="/ledger" search={{ status: 'failed,timed_out,lost', ...since, open: '1' }}><Figure name={t('overview.tile.failed')} value={atLeast(failed)} more={t('overview.tile.open')} tone={failed?.count ? 'bad' : undefined} /></Link></li>
      <li data-tile="missed"><Link to="/ledger" search={{ status: 'missed,refused', ...since, open: '1' }}><Figure name={t('overview.tile.missed')} value={atLeast(missed)} more={t('overview.tile.open')} tone={missed?.count ? 'warn' : undefined} /></Link></li>
      <li data-tile="rate"><Link to="/ledger" search={since}><Figure name={t('overview.tile.rate')} value={formatRate(day?.total.successRate, i18n.language)} more={t('overview.tile.day')} /></Link></li>
      <li data-tile="soon"><Link to="/ledger" search={{ status: 'planned', range: 'nextHour' }}><Figure name={t('overview.tile.soon')} value={count(soon)} /></Link></li>
      <li data-tile="slots"><Link to="/workers"><Figure name={t('overview.tile.slots')} value={count(workers.used)} more={t('overview.tile.of', { n: number.format(workers.slots) })} tone={workers.alive === 0 ? 'bad' : undefined} /></Link></li>
      <li data-tile="jobs"><Link to="/jobs"><Figure name={t('overview.tile.jobs')} value={count(jobs.total)} more={jobs.paused > 0 ? t('overview.jobsPaused', { count: jobs.paused }) : undefined} /></Link></li>
    </ul>
  );
}

function counted(listed: Counted | undefined, all: number | undefined): Counted | undefined {
  return listed?.more && all !== undefined ? { count: all, more: false } : listed;
}

function Figure({ name, value, more, tone }: { name: string; value: string; more?: string | undefined; tone?: 'bad' | 'warn' | 'live' | undefined }) {
  return (
    <>
      <span className={classes.name}>{name}</span>
      <span>
        <strong className={classes.value} data-tone={tone}>{value}</strong> {more && <span className={classes.more}>{more}</span>}
      </span>
    </>
  );
}
