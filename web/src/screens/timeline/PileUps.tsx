import { Link } from '@tanstack/react-router';
import type { TFunction } from 'i18next';
import { useMemo, useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { Forecast, PileUp } from '../../api/forecast.ts';
import { visible } from '../../lib/visible.ts';
import { Panel } from '../../parts/Panel.tsx';
import classes from './Forecast.module.css';
import { gatherPiles, mostPileUps } from './pileUps.ts';

const shownFirst = 6;

interface Props {
  pileUps: readonly PileUp[];
  forecast: Forecast;
  onLook: (at: number) => void;
  write: (at: string) => string;
}

/** Minutes with more fires than the workers have slots, in the minute or at one second of it, their jobs, and advice. */
export function PileUps({ pileUps, forecast: { slots = 0, crowded = 0 }, onLook, write }: Props) {
  const { t, i18n } = useTranslation();
  const [all, setAll] = useState(false);
  const piles = useMemo(() => gatherPiles(pileUps), [pileUps]);
  return (
    <Panel title={t('timeline.piles.title')}>
      {piles.length === 0 ? (
        <p className={classes.advice}>{t('timeline.piles.none')}</p>
      ) : (
        <>
          {crowded > 0 && <p className={classes.advice} data-crowded={crowded}><strong>{t('timeline.piles.crowded', { count: crowded, minutes: new Intl.NumberFormat(i18n.language).format(crowded) })}</strong> {t('timeline.piles.wait')}</p>}
          <p className={classes.advice}>{t('timeline.piles.advice')}</p>
          <ul className={classes.list}>
            {(all ? piles : piles.slice(0, shownFirst)).map(({ first, at }) => (
              <li key={first.at} data-pile={first.fires}>
                <div className={classes.listHead}>
                  <span>
                    {at.length > 1 && `${t(at.length < mostPileUps ? 'timeline.piles.every' : 'timeline.piles.everyMore', { count: at.length })} `}
                    <button type="button" className={classes.look} onClick={() => onLook(Date.parse(first.at))}><time dateTime={first.at}>{write(first.at)}</time></button>
                  </span>
                  <strong>{t('timeline.piles.fires', { count: first.fires })}</strong>
                </div>
                {first.crowded && <p className={classes.warn} data-second={first.fullest.second}>{secondText(t, first.fullest, slots)}</p>}
                <p className="spaced">
                  <span>{t('timeline.piles.of', { count: first.jobCount })}</span>
                  {first.jobs.map((job) => (
                    <span key={job.name}><Link to="/jobs/$name" params={{ name: job.name }}><bdi>{visible(job.name)}</bdi></Link>{job.fires > 1 && ` ×${job.fires}`}</span>
                  ))}
                  {first.jobCount > first.jobs.length && <span>{t('timeline.piles.more', { count: first.jobCount - first.jobs.length })}</span>}
                </p>
                {first.jobCount === 1 && <p className="small dim">{t('timeline.piles.one')}</p>}
              </li>
            ))}
          </ul>
          {piles.length > shownFirst && <button type="button" className={classes.look} onClick={() => setAll(!all)}>{all ? t('timeline.piles.fewer') : t('timeline.piles.all', { count: piles.length })}</button>}
        </>
      )}
    </Panel>
  );
}

/** Returns how the fires of a second compare with the slots: 15 fires at :00, 12 slots. */
function secondText(t: TFunction, { second, fires, slots: need }: PileUp['fullest'], slots: number): string {
  const at = `:${String(second).padStart(2, '0')}`;
  return t(need === fires ? 'timeline.piles.second' : 'timeline.piles.secondNeeds', { fires: t('timeline.piles.fires', { count: fires }), at, need: t('timeline.piles.slots', { count: need }), slots: t('timeline.piles.slots', { count: slots }) });
}
