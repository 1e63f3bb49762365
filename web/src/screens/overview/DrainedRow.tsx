import { Button } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { Fire, Worker } from '../../api/types.ts';
import { useWorkers } from '../../api/workers.ts';
import { labelled } from '../../lib/lists.ts';
import { visible } from '../../lib/visible.ts';
import { drainOf } from '../../lib/workerState.ts';
import { DrainDialog } from '../../parts/DrainDialog.tsx';
import { Filled, slot } from '../../parts/Filled.tsx';
import { Icon } from '../../parts/icons.tsx';
import { JobLink } from '../../parts/JobName.tsx';
import { useCan } from '../../parts/session.ts';
import { RelativeTime } from '../../parts/TimeText.tsx';
import classes from './rows.module.css';

const named = 3;

interface Props {
  oldest: Fire;
  /** One fire of each job. */
  jobs: readonly Fire[];
  count: number;
  gone: boolean;
}

/** The fires that wait for workers that take no more runs: for the one that was drained, with its remedy. */
export function DrainedRow({ oldest, jobs, count, gone }: Props) {
  const { t, i18n } = useTranslation();
  const mayDrain = useCan('operator', '');
  const workers = useWorkers().data?.items.filter((worker) => !worker.away && drainOf(worker) !== undefined) ?? [];
  const only = workers.length === 1 ? workers[0] : undefined;
  const [undraining, setUndraining] = useState<Worker | undefined>();
  const number = new Intl.NumberFormat(i18n.language).format(count);
  const name = only && visible(only.name || only.id);
  const state = only && drainOf(only) === 'stopping' ? 'stopping' : 'drained';
  return (
    <li className={classes.row} data-gone={gone || undefined} data-why="drained">
      <div className={classes.main}>
        <span className={classes.first}>
          <span>
            <Filled text={t(only ? `overview.waitFor.${state}` : 'overview.waitFor.several', { count, number, worker: slot })}>
              {only && <Link to="/workers/$id" params={{ id: only.id }} className={classes.name}>{name}</Link>}
            </Filled>
          </span>
        </span>
        <span className={classes.second}>
          <span><Filled text={t('overview.planned', { at: slot })}><RelativeTime at={oldest.gap?.from ?? oldest.plannedAt} /></Filled></span>
          {jobs.slice(0, named).map((fire) => <JobLink key={fire.job} job={fire.job} title={fire.jobTitle} />)}
          {jobs.length > named && <Link to="/ledger" search={{ status: 'waiting' }}>{t('overview.moreJobs', { count: jobs.length - named })}</Link>}
          {!only && <Link to="/workers">{t('causeLinks.workers')}</Link>}
        </span>
      </div>
      {only?.settings?.drain === true && mayDrain && (
        <div className={classes.acts}>
          <Button size="xs" variant="default" aria-label={labelled(t('workers.undrain'), name ?? '', i18n.language)} onClick={() => setUndraining(only)}><Icon name="play" size={14} /><span className={classes.word}>{t('workers.undrain')}</span></Button>
        </div>
      )}
      {undraining && <DrainDialog worker={undraining} onClose={() => setUndraining(undefined)} />}
    </li>
  );
}
