import { Link } from '@tanstack/react-router';
import { useMemo, useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { PileUp } from '../../api/forecast.ts';
import { visible } from '../../lib/visible.ts';
import { Panel } from '../../parts/Panel.tsx';
import classes from './Forecast.module.css';
import { gatherPiles } from './pileUps.ts';

const shownFirst = 6;

/** Minutes with more fires than the workers have slots, their jobs, and advice. */
export function PileUps({ pileUps, onLook, write }: { pileUps: readonly PileUp[]; onLook: (at: number) => void; write: (at: string) => string }) {
  const { t } = useTranslation();
  const [all, setAll] = useState(false);
  const piles = useMemo(() => gatherPiles(pileUps), [pileUps]);
  return (
    <Panel title={t('timeline.piles.title')}>
      {piles.length === 0 ? (
        <p className={classes.advice}>{t('timeline.piles.none')}</p>
      ) : (
        <>
          <p className={classes.advice}>{t('timeline.piles.advice')}</p>
          <ul className={classes.list}>
            {(all ? piles : piles.slice(0, shownFirst)).map(({ first, at }) => (
              <li key={first.at} data-pile={first.fires}>
                <div className={classes.listHead}>
                  <span>
                    {at.length > 1 && `${t('timeline.piles.every', { count: at.length })} `}
                    <button type="button" className={classes.look} onClick={() => onLook(Date.parse(first.at))}><time dateTime={first.at}>{write(first.at)}</time></button>
                  </span>
                  <strong>{t('timeline.piles.fires', { count: first.fires })}</strong>
                </div>
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
