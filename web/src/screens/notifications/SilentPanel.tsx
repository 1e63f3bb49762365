import { Button } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { useMemo } from 'react';
import { useTranslation } from 'react-i18next';
import { useUnnotifiedJobs } from '../../api/channels.ts';
import type { Job } from '../../api/types.ts';
import { titled } from '../../lib/jobTitle.ts';
import { visible } from '../../lib/visible.ts';
import { column, DataTable, type Columns } from '../../parts/DataTable.tsx';
import { EmptyPage } from '../../parts/EmptyPage.tsx';
import { Icon } from '../../parts/icons.tsx';
import { Pager } from '../../parts/Pager.tsx';
import { PlainText } from '../../parts/PlainText.tsx';
import { expressionsOf, hasSchedule } from '../../parts/scheduleText.ts';
import { ProblemNotice } from '../../parts/ProblemNotice.tsx';
import { useRights } from '../../parts/session.ts';
import { useCursorPages } from '../../parts/useCursorPages.ts';
import { Waiting } from '../../parts/Waiting.tsx';
import classes from './notifications.module.css';

/** The jobs that notify no enabled channel of a failure. */
export function SilentPanel() {
  const { t } = useTranslation();
  const may = useRights();
  const pages = useCursorPages('silent');
  const jobs = useUnnotifiedJobs(pages.cursor);
  const columns = useMemo((): Columns<Job> => [
    column<Job>('job', t('silent.job'), ({ name, title }) => (
      <>
        <Link to="/jobs/$name" params={{ name }} className="break"><PlainText>{title || name}</PlainText></Link>
        {title && <div className="small dim break">{visible(name)}</div>}
      </>
    )),
    column<Job>('group', t('silent.group'), ({ group }) => (group ? <code className="break">{visible(group)}</code> : <span className="dim">{t('common.none')}</span>)),
    column<Job>('schedule', t('silent.schedule'), ({ cronExpr, schedules, meta }) => (meta.words ? visible(meta.words) : hasSchedule({ cronExpr, schedules }) ? <code>{visible(expressionsOf({ cronExpr, schedules }).join('; '))}</code> : <span className="dim">{t('silent.manual')}</span>), false),
    column<Job>('actions', t('common.actions'), ({ name, title, group = '', meta }) => may('editor', group) && !meta.hidden && (
      <div className={classes.actions}>
        <Button size="xs" variant="default" aria-label={t('silent.setUpOf', { name: visible(titled({ name, title })) })} renderRoot={(props) => <Link to="/jobs/$name/edit" params={{ name }} {...props} />}>{t('silent.setUp')}</Button>
      </div>
    )),
  ], [t, may]);
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
            <span className={classes.end}><Link to="/jobs" search={{ is: 'unnotified' }} className="spaced"><Icon name="filter" size={14} /> {t('silent.inJobs')}</Link></span>
          </div>
          <DataTable cards caption={t('silent.table')} columns={columns} rows={rows} rowId={({ name }) => name} busy={jobs.isPlaceholderData} />
          <Pager pages={pages} nextCursor={jobs.data?.nextCursor} />
        </>
      )}
    </>
  );
}
