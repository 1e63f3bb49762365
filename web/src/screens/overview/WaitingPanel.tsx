import { Button } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { useMemo, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { useWaiting } from '../../api/overview.ts';
import { useRights } from '../../parts/session.ts';
import { useNow } from '../../lib/useNow.ts';
import { useSteady } from '../../lib/useSteady.ts';
import { CauseLinks } from '../../parts/CauseLinks.tsx';
import { Filled, slot } from '../../parts/Filled.tsx';
import { Icon } from '../../parts/icons.tsx';
import { JobLink } from '../../parts/JobName.tsx';
import { KillDialog } from '../../parts/KillDialog.tsx';
import { Panel } from '../../parts/Panel.tsx';
import { ProblemNotice } from '../../parts/ProblemNotice.tsx';
import { RelativeTime } from '../../parts/TimeText.tsx';
import { Waiting } from '../../parts/Waiting.tsx';
import { Why } from '../../parts/Why.tsx';
import classes from './rows.module.css';
import { DrainedRow } from './DrainedRow.tsx';
import { waitingRows, type WaitingRow } from './waiting.ts';

const shown = 6;
const idOf = ({ id }: WaitingRow) => id;

/** Due fires that have not started, with the reason; longest wait first. Those of paused jobs wait on purpose, and are only counted. */
export function WaitingPanel({ paused }: { paused: number | undefined }) {
  const { t, i18n } = useTranslation();
  const waiting = useWaiting();
  const may = useRights();
  const now = useNow(10_000);
  const [killing, setKilling] = useState<{ id: string; job: string; jobTitle: string | undefined } | undefined>();
  const all = useMemo(() => waitingRows(waiting.data?.items ?? []), [waiting.data]);
  const fresh = useMemo(() => all.slice(0, shown), [all]);
  const { rows, around } = useSteady(fresh, idOf, killing !== undefined);
  const number = new Intl.NumberFormat(i18n.language);
  const more = all.slice(shown).reduce((sum, { count }) => sum + count, 0);

  return (
    <Panel title={t('overview.waiting')} side={all.length > 0 && <Link to="/ledger" search={{ status: 'waiting' }} className={classes.side}>{t('overview.all')}</Link>}>
      {waiting.error && !waiting.data && <ProblemNotice error={waiting.error} onRetry={() => void waiting.refetch()} />}
      {!waiting.data && !waiting.error && <Waiting rows={2} />}
      {waiting.data && rows.length === 0 && <p className={classes.calm}>{t('overview.waitingNone')}</p>}
      {rows.length > 0 && (
        <ul className={classes.rows} {...around} data-waiting="">
          {rows.map(({ row: { id, fire, count, drained }, gone }) => {
            if (drained) return <DrainedRow key={id} oldest={fire} jobs={drained} count={count} gone={gone} />;
            const run = fire.attempts.at(-1);
            return (
              <li key={id} className={classes.row} data-gone={gone || undefined} data-why={fire.reason?.code ?? 'none'}>
                <div className={classes.main}>
                  <span className={classes.first}>
                    <JobLink job={fire.job} title={fire.jobTitle} run={run} className={classes.name} />
                    <span className="break">{fire.reason ? <Why reason={fire.reason} /> : t('overview.noReason')}</span>
                  </span>
                  <span className={classes.second}>
                    {fire.jobTitle && <span>{fire.job}</span>}
                    <CauseLinks reason={fire.reason} job={fire.job} group={fire.group} />
                    {fire.dueAt && Date.parse(fire.dueAt) > now ? <span><Filled text={t('overview.due', { at: slot })}><RelativeTime at={fire.dueAt} /></Filled></span> : <span><Filled text={t('overview.planned', { at: slot })}><RelativeTime at={fire.gap?.from ?? fire.plannedAt} /></Filled></span>}
                    {count > 1 && !fire.gap && <Link to="/ledger" search={{ job: fire.job, status: 'waiting' }}>{t('overview.gap', { count })}</Link>}
                    {fire.gap && <span>{t('overview.gap', { count: fire.gap.count })}</span>}
                    {fire.cause !== 'cron' && <span>{t(`cause.${fire.cause}`)}</span>}
                  </span>
                </div>
                {run && may('operator', fire.group ?? '') && (
                  <div className={classes.acts}>
                    <Button size="xs" variant="default" disabled={gone} aria-label={t('overview.cancelRun', { job: fire.job })} onClick={() => setKilling({ id: run, job: fire.job, jobTitle: fire.jobTitle })}><Icon name="stop" size={14} /><span className={classes.word}>{t('common.cancel')}</span></Button>
                  </div>
                )}
              </li>
            );
          })}
        </ul>
      )}
      {more > 0 && <Link to="/ledger" search={{ status: 'waiting' }} className={classes.more}>{t('overview.more', { count: more })}</Link>}
      {paused !== undefined && paused > 0 && <Link to="/ledger" search={{ status: 'paused' }} className={classes.more} data-paused="">{t('overview.ofPaused', { count: paused, number: number.format(paused) })}</Link>}
      {killing && <KillDialog {...killing} waits onClose={() => setKilling(undefined)} />}
    </Panel>
  );
}
