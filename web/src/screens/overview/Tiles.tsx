import { Link } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import type { components } from '../../api/schema.gen.ts';
import { formatRate } from '../../lib/figures.ts';
import classes from './Tiles.module.css';

type Overview = components['schemas']['Overview'];

/** The cluster in a few numbers, each of which leads to what it counts. */
export function Tiles({ overview, soon }: { overview: Overview; soon: number | undefined }) {
  const { t, i18n } = useTranslation();
  const number = new Intl.NumberFormat(i18n.language);
  const count = (n: number | undefined) => (n === undefined ? '–' : number.format(n));
  const { lastDay: day, workers, jobs } = overview;
  const failed = day && day.total.statuses.failed + day.total.statuses.timed_out + day.total.statuses.lost;
  const missed = day && day.total.statuses.missed + day.total.statuses.refused;
  const since = day && { range: 'custom', from: day.from };
  return (
    <ul className={classes.tiles} aria-label={t('overview.numbers')} data-tiles="">
      <li data-tile="running"><Link to="/runs" search={{ status: 'running' }}><Figure name={t('overview.tile.running')} value={count(overview.running)} tone={overview.running ? 'live' : undefined} /></Link></li>
      <li data-tile="waiting"><Link to="/runs" search={{ status: 'waiting' }}><Figure name={t('overview.tile.waiting')} value={count(overview.waiting)} /></Link></li>
      <li data-tile="failed"><Link to="/ledger" search={{ status: 'failed,timed_out,lost', ...since }}><Figure name={t('overview.tile.failed')} value={count(failed)} more={t('overview.tile.day')} tone={failed ? 'bad' : undefined} /></Link></li>
      <li data-tile="missed"><Link to="/ledger" search={{ status: 'missed,refused', ...since }}><Figure name={t('overview.tile.missed')} value={count(missed)} more={t('overview.tile.day')} tone={missed ? 'warn' : undefined} /></Link></li>
      <li data-tile="rate"><Link to="/ledger" search={since ?? {}}><Figure name={t('overview.tile.rate')} value={formatRate(day?.total.successRate, i18n.language)} more={t('overview.tile.day')} /></Link></li>
      <li data-tile="soon"><Link to="/ledger" search={{ status: 'planned', range: 'nextHour' }}><Figure name={t('overview.tile.soon')} value={count(soon)} /></Link></li>
      <li data-tile="slots"><Link to="/workers"><Figure name={t('overview.tile.slots')} value={count(workers.used)} more={t('overview.tile.of', { n: number.format(workers.slots) })} tone={workers.alive === 0 ? 'bad' : undefined} /></Link></li>
      <li data-tile="jobs"><Link to="/jobs"><Figure name={t('overview.tile.jobs')} value={count(jobs.total)} more={jobs.paused > 0 ? t('overview.jobsPaused', { count: jobs.paused }) : undefined} /></Link></li>
    </ul>
  );
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
