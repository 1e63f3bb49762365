import { Link } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import type { components } from '../../api/schema.gen.ts';
import type { Fire } from '../../api/types.ts';
import { formatRate, type Ended } from '../../lib/figures.ts';
import { attentionOf } from '../../lib/troubles.ts';
import classes from './Tiles.module.css';

interface Props {
  overview: components['schemas']['Overview'];
  /** Of the workers that are online. */
  load: { alive: number; slots: number; used: number };
  /** Current runs. */
  running: number | undefined;
  soon: number | undefined;
  /** Waiting fires, without those of paused jobs. */
  waiting: number | undefined;
  /** All failed fires of the last 24 hours, by their last attempt; undefined if they are unknown. */
  troubles: readonly Fire[] | undefined;
  /** There are too many to list. */
  many: boolean;
}

/** Key figures of the cluster, each with a link to the counted items. */
export function Tiles({ overview, load, running, soon, waiting, troubles, many }: Props) {
  const { t, i18n } = useTranslation();
  const number = new Intl.NumberFormat(i18n.language);
  const count = (n: number | undefined) => (n === undefined ? '–' : number.format(n));
  const { lastDay: day, jobs } = overview;
  const paused = overview.waitingPaused ?? 0;
  const since = day ? { range: 'custom', from: day.from } as const : { range: 'day' } as const;
  const failures = (statuses: readonly Ended[], tone: 'bad' | 'warn') => {
    const { open, acknowledged } = troubles ? attentionOf(troubles, statuses) : {};
    // The list ends at a limit; the statistics do not, but may be a minute behind, and count acknowledged ones as well.
    const value = many && day ? statuses.reduce((sum, status) => sum + day.total.statuses[status], 0) : open;
    const more = many ? t('overview.tile.day') : acknowledged ? t('overview.tile.acknowledged', { number: number.format(acknowledged) }) : t('overview.tile.open');
    const link = { status: statuses.join(','), ...since, ...(!many && (open || !acknowledged) && { open: '1' }) };
    return { link, figure: { value: count(value), more, tone: value ? tone : undefined } };
  };
  const failed = failures(['failed', 'timed_out', 'lost'], 'bad');
  const missed = failures(['missed', 'refused'], 'warn');
  return (
    <ul className={classes.tiles} aria-label={t('overview.numbers')} data-tiles="">
      <li data-tile="running"><Link to="/runs" search={{ status: 'running' }}><Figure name={t('overview.tile.running')} value={count(running)} tone={running ? 'live' : undefined} /></Link></li>
      <li data-tile="waiting"><Link to="/ledger" search={{ status: 'waiting' }}><Figure name={t('overview.tile.waiting')} value={count(waiting)} more={paused > 0 ? t('overview.ofPaused', { count: paused, number: number.format(paused) }) : undefined} /></Link></li>
      <li data-tile="failed"><Link to="/ledger" search={failed.link}><Figure name={t('overview.tile.failed')} {...failed.figure} /></Link></li>
      <li data-tile="missed"><Link to="/ledger" search={missed.link}><Figure name={t('overview.tile.missed')} {...missed.figure} /></Link></li>
      <li data-tile="rate"><Link to="/ledger" search={since}><Figure name={t('overview.tile.rate')} value={formatRate(day?.total.successRate, i18n.language)} more={t('overview.tile.day')} /></Link></li>
      <li data-tile="soon"><Link to="/ledger" search={{ status: 'planned', range: 'nextHour' }}><Figure name={t('overview.tile.soon')} value={count(soon)} /></Link></li>
      <li data-tile="slots"><Link to="/workers"><Figure name={t('overview.tile.slots')} value={count(load.used)} more={t('overview.tile.of', { n: number.format(load.slots) })} tone={load.alive === 0 ? 'bad' : undefined} /></Link></li>
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
