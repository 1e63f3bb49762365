import { Button } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { useBackfill, useBackfills, type Backfill } from '../../api/backfills.ts';
import type { Job } from '../../api/types.ts';
import { listed } from '../../lib/lists.ts';
import { formatPeriod } from '../../lib/time.ts';
import { visible } from '../../lib/visible.ts';
import { Icon } from '../../parts/icons.tsx';
import { Panel } from '../../parts/Panel.tsx';
import { PartialNotice } from '../../parts/PartialNotice.tsx';
import { ProblemNotice } from '../../parts/ProblemNotice.tsx';
import { zoneOf } from '../../parts/scheduleText.ts';
import { TimeText } from '../../parts/TimeText.tsx';
import { Waiting } from '../../parts/Waiting.tsx';
import { BackfillActs } from './BackfillActs.tsx';
import { BackfillProgress, BackfillState } from './BackfillProgress.tsx';
import classes from './BackfillsPanel.module.css';
import { FireCalendar, type TimeRange } from './FireCalendar.tsx';
import { lastMonthOf } from './fireCalendar.ts';
import { NewBackfill } from './NewBackfill.tsx';
import { Yielded } from './Yielded.tsx';

/** The backfills of a job with their progress, and the dialog for a new one. */
export function BackfillsPanel({ job, mayRun }: { job: Job; mayRun: boolean }) {
  const { t } = useTranslation();
  const backfills = useBackfills(job.name);
  const [asking, setAsking] = useState<{ range?: TimeRange }>();
  const [until, setUntil] = useState<string>();
  // The backfill whose dates the calendar marks.
  const [chosen, setChosen] = useState<string>();
  const items = backfills.data?.items;
  const newest = useBackfill(items?.[0]?.id, { limit: 1 }).data;
  const yielded = newest?.id === items?.[0]?.id ? newest?.yielded : undefined;
  // A job has one backfill at a time.
  const busy = items?.some(({ state }) => state !== 'ended') === true;
  // Shows the last month of a range on the calendar.
  const show = (to: string) => setUntil(lastMonthOf(zoneOf(job) ?? 'UTC', to));
  return (
    <div className={classes.stack}>
      <FireCalendar job={job} onRange={mayRun && items && !busy ? (range) => setAsking({ range }) : undefined} until={until} onUntil={setUntil} backfill={chosen} onUnmark={() => setChosen(undefined)} />
      <Panel title={t('backfill.list')} help={t('backfill.help')} side={mayRun && <Button size="xs" disabled={busy} title={busy ? t('backfill.oneAtATime') : undefined} onClick={() => setAsking({})}>{t('backfill.open')}</Button>}>
        {backfills.error && !items && <ProblemNotice error={backfills.error} onRetry={() => void backfills.refetch()} />}
        {!items && !backfills.error && <Waiting rows={2} />}
        {backfills.data?.partial && <PartialNotice />}
        {items?.length === 0 && <p className="dim">{t('backfill.none')}</p>}
        {items && items.length > 0 && (
          <ul className={classes.list}>
            {items.map((one) => (
              <Entry
                key={one.id} backfill={one} mayRun={mayRun}
                onShow={(to) => {
                  show(to);
                  setChosen(one.id);
                }}
              />
            ))}
          </ul>
        )}
        {yielded && <Yielded yielded={yielded} busy={busy} onRun={mayRun ? (range) => setAsking({ range }) : undefined} />}
        <p className={classes.all}><Link to="/backfills">{t('backfill.allJobs')}</Link></p>
        {asking && (
          <NewBackfill
            job={job} range={asking.range} onClose={() => setAsking(undefined)}
            onStarted={(_, { to }) => {
              show(to);
              setAsking(undefined);
            }}
          />
        )}
      </Panel>
    </div>
  );
}

/** One backfill: its range, state, and how many of its fires have ended. */
function Entry({ backfill, mayRun, onShow }: { backfill: Backfill; mayRun: boolean; onShow: (to: string) => void }) {
  const { t, i18n } = useTranslation();
  const { id = '', state, from, to, createdAt, by, note } = backfill;
  return (
    <li className={classes.entry} data-backfill={state}>
      <div className={classes.about}>
        <Link to="/backfills/$id" params={{ id }} className={classes.link}>{from && to ? formatPeriod(from, to, i18n.language) : createdAt && <TimeText at={createdAt} />}</Link>{' '}
        <BackfillState backfill={backfill} />
        <BackfillProgress backfill={backfill} />
        {to && <Button variant="subtle" size="compact-xs" leftSection={<Icon name="calendar" size={12} />} onClick={() => onShow(to)}>{t('fireCalendar.show')}</Button>}
        <div className="small dim break">{listed([by && visible(by), note && visible(note)], i18n.language)}</div>
      </div>
      {mayRun && <BackfillActs backfill={backfill} />}
    </li>
  );
}
