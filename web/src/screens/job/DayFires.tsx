import { ActionIcon, Button, Title } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { useMemo } from 'react';
import { useTranslation } from 'react-i18next';
import type { CalendarDay } from '../../api/calendar.ts';
import { useFires } from '../../api/fires.ts';
import { listed } from '../../lib/lists.ts';
import { DataTable } from '../../parts/DataTable.tsx';
import { fireColumns } from '../../parts/fireColumns.tsx';
import { Icon } from '../../parts/icons.tsx';
import { PartialNotice } from '../../parts/PartialNotice.tsx';
import { ProblemNotice } from '../../parts/ProblemNotice.tsx';
import { Waiting } from '../../parts/Waiting.tsx';
import classes from './FireCalendar.module.css';
import type { DayState } from './fireCalendar.ts';
import { useStateName } from './useStateName.ts';

interface Props {
  job: string;
  day: CalendarDay;
  counts: readonly { state: DayState; count: number }[];
  /** Asks for a backfill of the day; undefined if none can be requested. */
  onBackfill: (() => void) | undefined;
  onClose: () => void;
}

const most = 50;

/** The fires of a day, with their runs. */
export function DayFires({ job, day, counts, onBackfill, onClose }: Props) {
  const { t, i18n } = useTranslation();
  const nameOf = useStateName();
  const fires = useFires({ job, from: day.from, to: day.to }, '', { limit: most });
  const columns = useMemo(() => fireColumns(t, i18n.language, false), [t, i18n.language]);
  const name = new Intl.DateTimeFormat(i18n.language, { dateStyle: 'full', timeZone: 'UTC' }).format(Date.parse(day.date));
  const items = fires.data?.items;
  const caption = t('fireCalendar.firesOf', { day: name });
  return (
    <section className={classes.fires} aria-label={caption}>
      <div className={classes.head}>
        <Title order={3} size="h6">{name}</Title>
        <Link to="/ledger" search={{ job, range: 'custom', from: day.from, to: day.to }}>{t('fireCalendar.inLedger')}</Link>
        {onBackfill && <Button size="xs" variant="default" onClick={onBackfill}>{t('fireCalendar.backfillDay')}</Button>}
        <ActionIcon variant="subtle" color="gray" aria-label={t('common.close')} onClick={onClose}><Icon name="close" size={16} /></ActionIcon>
      </div>
      <p className="small">{counts.length > 0 ? listed(counts.map(({ state, count }) => t('backfill.figure', { count, status: nameOf(state) })), i18n.language) : nameOf('none')}</p>
      {day.summarized && <p className="small dim">{t('fireCalendar.summarized')}</p>}
      {fires.error && !items && <ProblemNotice error={fires.error} onRetry={() => void fires.refetch()} />}
      {!items && !fires.error && <Waiting rows={2} />}
      {fires.data?.partial && <PartialNotice />}
      {items?.length === 0 && !fires.data?.partial && <p className="small dim">{t('fireCalendar.noEntries')}</p>}
      {items && items.length > 0 && <DataTable caption={caption} columns={columns} rows={items} rowId={(fire) => fire.id} />}
      {fires.data?.nextCursor && <p className="small dim">{t('fireCalendar.more', { count: most })}</p>}
    </section>
  );
}
