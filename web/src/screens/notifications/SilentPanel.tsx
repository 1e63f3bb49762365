import { Button } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { useEffect, useMemo, useRef, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { useUnnotifiedJobs } from '../../api/channels.ts';
import { allJobs } from '../../api/jobList.ts';
import type { Job } from '../../api/types.ts';
import { titled } from '../../lib/jobTitle.ts';
import type { Settings } from '../../lib/manySettings.ts';
import { visible } from '../../lib/visible.ts';
import { column, DataTable, type Columns } from '../../parts/DataTable.tsx';
import { EmptyPage } from '../../parts/EmptyPage.tsx';
import { Icon } from '../../parts/icons.tsx';
import { ManySettings } from '../../parts/ManySettings.tsx';
import { Pager } from '../../parts/Pager.tsx';
import { PlainText } from '../../parts/PlainText.tsx';
import { expressionsOf, hasSchedule } from '../../parts/scheduleText.ts';
import { ProblemNotice } from '../../parts/ProblemNotice.tsx';
import { useRights } from '../../parts/session.ts';
import { useCursorPages } from '../../parts/useCursorPages.ts';
import { Waiting } from '../../parts/Waiting.tsx';
import classes from './notifications.module.css';

/** Maximum number of jobs of a request. */
const mostAtOnce = 5000;

const settingsOf = ({ name, group, notify }: Job): Settings => ({ name, group, notify });

function toggledIn(selected: ReadonlyMap<string, Settings>, job: Settings): ReadonlyMap<string, Settings> {
  const next = new Map(selected);
  if (!next.delete(job.name)) next.set(job.name, job);
  return next;
}

/** The jobs that notify no enabled channel of a failure. */
export function SilentPanel() {
  const { t } = useTranslation();
  const may = useRights();
  const pages = useCursorPages('silent');
  const jobs = useUnnotifiedJobs(pages.cursor);
  const [selected, setSelected] = useState<ReadonlyMap<string, Settings>>(new Map());
  const [asked, setAsked] = useState<readonly Settings[]>();
  const [leftOut, setLeftOut] = useState(0);
  const [failed, setFailed] = useState<Error>();
  const columns = useMemo((): Columns<Job> => [
    column<Job>('select', t('silent.select'), (job) => may('editor', job.group ?? '') && !job.meta.hidden && (
      <input type="checkbox" aria-label={t('silent.selectOf', { name: visible(titled(job)) })} checked={selected.has(job.name)} onChange={() => setSelected((now) => toggledIn(now, settingsOf(job)))} />
    )),
    column<Job>('job', t('silent.job'), ({ name, title }) => (
      <>
        <Link to="/jobs/$name" params={{ name }} className="break"><PlainText>{title || name}</PlainText></Link>
        {title && <div className="small dim break">{visible(name)}</div>}
      </>
    )),
    column<Job>('group', t('silent.group'), ({ group }) => (group ? <code className="break">{visible(group)}</code> : <span className="dim">{t('common.none')}</span>)),
    column<Job>('schedule', t('silent.schedule'), ({ cronExpr, schedules, meta }) => (meta.words ? visible(meta.words) : hasSchedule({ cronExpr, schedules }) ? <code>{visible(expressionsOf({ cronExpr, schedules }).join('; '))}</code> : <span className="dim">{t('silent.manual')}</span>), false),
    column<Job>('actions', t('common.actions'), (job) => may('editor', job.group ?? '') && !job.meta.hidden && (
      <div className={classes.actions}>
        <Button size="xs" variant="default" aria-label={t('silent.notifyOf', { name: visible(titled(job)) })} onClick={() => setAsked([settingsOf(job)])}>{t('silent.notify')}</Button>
      </div>
    )),
  ], [t, may, selected]);
  const [gathering, setGathering] = useState(false);
  const leaving = useRef(new AbortController());
  useEffect(() => {
    leaving.current = new AbortController();
    return () => leaving.current.abort();
  }, []);
  const askAll = async () => {
    setGathering(true);
    setFailed(undefined);
    try {
      const mine: Job[] = [];
      let others = 0;
      for await (const { items } of allJobs({ is: 'unnotified' }, leaving.current.signal)) {
        const some = items.filter((job) => may('editor', job.group ?? '') && !job.meta.hidden);
        mine.push(...some);
        others += items.length - some.length;
        if (mine.length >= mostAtOnce) break;
      }
      setLeftOut(others);
      setAsked(mine.slice(0, mostAtOnce).map(settingsOf));
    } catch (cause) {
      if (!leaving.current.signal.aborted) setFailed(cause as Error);
    }
    setGathering(false);
  };
  const close = (done: boolean) => {
    setAsked(undefined);
    setLeftOut(0);
    if (done) setSelected(new Map());
  };
  const rows = jobs.data?.items;
  return (
    <>
      {jobs.error && !rows && <ProblemNotice error={jobs.error} onRetry={() => void jobs.refetch()} />}
      {!rows && !jobs.error && <Waiting rows={4} />}
      {rows?.length === 0 && pages.page === 1 && <EmptyPage icon="check" title={t('silent.noneTitle')}><p>{t('silent.none')}</p></EmptyPage>}
      {rows && rows.length > 0 && (
        <>
          <div className={classes.toolbar}>
            <span className="dim">{t('silent.text', { count: jobs.data?.total ?? rows.length })}</span>
            {may('editor') && (
              <Button size="xs" loading={gathering} onClick={() => (selected.size > 0 ? setAsked([...selected.values()]) : void askAll())}>
                {selected.size > 0 ? t('silent.notifySome', { count: selected.size }) : t('silent.notifyAll', { count: jobs.data?.total ?? rows.length })}
              </Button>
            )}
            <span className={classes.end}><Link to="/jobs" search={{ is: 'unnotified' }} className="spaced"><Icon name="filter" size={14} /> {t('silent.inJobs')}</Link></span>
          </div>
          <DataTable cards caption={t('silent.table')} columns={columns} rows={rows} rowId={({ name }) => name} busy={jobs.isPlaceholderData} />
          <Pager pages={pages} nextCursor={jobs.data?.nextCursor} />
        </>
      )}
      {failed && <ProblemNotice error={failed} />}
      {asked && <ManySettings only="notify" jobs={asked} leftOut={leftOut} onClose={close} />}
    </>
  );
}
