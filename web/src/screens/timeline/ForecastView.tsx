import { Button } from '@mantine/core';
import { useMediaQuery } from '@mantine/hooks';
import { Link, useNavigate } from '@tanstack/react-router';
import { useMemo, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { aheadByHour, aheadByMinute, useForecast, type Forecast } from '../../api/forecast.ts';
import type { TimelineSearch } from '../../lib/searchParams.ts';
import { sentences } from '../../lib/lists.ts';
import { localZone } from '../../lib/localTime.ts';
import { formatTime } from '../../lib/time.ts';
import { ChartTable } from '../../parts/ChartTable.tsx';
import { EmptyPage } from '../../parts/EmptyPage.tsx';
import { Filled, slot } from '../../parts/Filled.tsx';
import { isoOf } from '../../parts/gantt/span.ts';
import { HeatMap } from '../../parts/heat/HeatMap.tsx';
import { clockOf, countAt, daysOf, rowsOfDay, type Minutes } from '../../parts/heat/rows.ts';
import { Panel } from '../../parts/Panel.tsx';
import { ProblemNotice } from '../../parts/ProblemNotice.tsx';
import { Waiting } from '../../parts/Waiting.tsx';
import { ClockChanges } from './ClockChanges.tsx';
import { DayPicker } from './DayPicker.tsx';
import classes from './Forecast.module.css';
import { PileUps } from './PileUps.tsx';
import { crowdedMinutes, pileUpFrom } from './pileUps.ts';

const minute = 60_000;
const hour = 60 * minute;

interface Props {
  search: TimelineSearch;
  onSearch: (search: TimelineSearch) => void;
  now: number;
}

/** The forecast of the next days by minute. */
export function ForecastView({ search, onSearch, now }: Props) {
  const { t } = useTranslation();
  // The end moves once an hour, since the data is refetched anyway.
  const begin = Math.floor(now / hour) * hour;
  const byMinute = useForecast(search.group, begin + aheadByMinute, 'minute');
  const byHour = useForecast(search.group, begin + aheadByHour, 'hour');
  if (byMinute.error && !byMinute.data) return <ProblemNotice error={byMinute.error} onRetry={() => void byMinute.refetch()} />;
  if (!byMinute.data) return <Waiting rows={12} />;
  if (byMinute.data.total === 0 && !byHour.data?.total) {
    return (
      <EmptyPage icon="calendar" title={t('timeline.heat.emptyTitle')}>
        <p>{byMinute.data.paused > 0 ? t('timeline.heat.allPaused', { count: byMinute.data.paused }) : t('timeline.heat.emptyText')}</p>
        {search.group !== undefined && <Button variant="default" onClick={() => onSearch({ ...search, group: undefined })}>{t('timeline.heat.allGroups')}</Button>}
        <Link to="/jobs">{t('runs.goToJobs')}</Link>
      </EmptyPage>
    );
  }
  return <Days forecast={byMinute.data} changes={byHour.data?.dst ?? byMinute.data.dst} search={search} onSearch={onSearch} />;
}

function Days({ forecast, changes, search, onSearch }: { forecast: Forecast; changes: Forecast['dst']; search: TimelineSearch; onSearch: Props['onSearch'] }) {
  const { t, i18n } = useTranslation();
  const touch = useMediaQuery('(pointer: coarse)', undefined, { getInitialValueInEffect: false });
  const navigate = useNavigate();
  const zone = localZone();
  const minutes: Minutes = useMemo(() => ({ start: Date.parse(forecast.start), counts: forecast.buckets }), [forecast]);
  const days = useMemo(() => daysOf(zone, minutes), [zone, minutes]);
  const day = days.find(({ date }) => date === search.day) ?? days[0];
  const rows = useMemo(() => (day ? rowsOfDay(zone, day.at, minutes) : []), [zone, day, minutes]);
  const threshold = useMemo(() => pileUpFrom(forecast.buckets, forecast.slots ?? 0), [forecast]);
  const crowded = useMemo(() => crowdedMinutes(forecast), [forecast]);
  const pileUps = useMemo(() => forecast.pileUps.filter((pile) => pile.crowded || pile.fires >= threshold), [forecast, threshold]);
  const [chosen, setChosen] = useState<number | undefined>();
  const number = new Intl.NumberFormat(i18n.language);
  const first = rows[0]?.at ?? 0;
  const end = (rows.at(-1)?.at ?? 0) + hour;
  const here = (at: number) => at >= first && at < end;
  const marked = useMemo(() => new Set(rows.flatMap((row) => row.cells.flatMap((n, i) => ((n ?? 0) >= threshold || crowded.has(row.at + i * minute) ? [row.at + i * minute] : [])))), [rows, threshold, crowded]);
  const changing = useMemo(() => new Set(rows.filter((row) => changes.some(({ at }) => Date.parse(at) > row.at && Date.parse(at) <= row.at + hour)).map((row) => row.at)), [rows, changes]);
  const open = (at: number) => void navigate({ to: '/ledger', search: { range: 'custom', from: isoOf(at), to: isoOf(at + minute), status: 'planned', group: search.group } });
  const look = (at: number) => {
    const of = days.findLast((d) => d.at <= at);
    if (of) onSearch({ ...search, day: of.date === days[0]?.date ? undefined : of.date });
    setChosen(at);
  };
  const cell = chosen !== undefined && here(chosen) ? chosen : undefined;
  const value = cell === undefined ? undefined : countAt(minutes, cell);
  return (
    <>
      <p className={classes.sum}>
        {sentences([t('timeline.heat.sum', { count: forecast.jobs, fires: number.format(forecast.total), jobs: number.format(forecast.jobs) }), forecast.paused > 0 && t('timeline.heat.paused', { count: forecast.paused })], i18n.language)}{' '}
        {(forecast.left ?? 0) > 0 && <strong className={classes.warn}>{t('timeline.heat.left', { count: forecast.left ?? 0 })}</strong>}
      </p>
      <DayPicker days={days} chosen={day?.date} changes={changes} onChoose={(date) => onSearch({ ...search, day: date === days[0]?.date ? undefined : date })} />
      <div className={classes.columns}>
        <Panel title={t('timeline.heat.title')} side={<span className="small dim">{t('timeline.heat.zone', { zone })}</span>}>
          <HeatMap
            label={t('timeline.heat.label', { day: day ? new Intl.DateTimeFormat(i18n.language, { dateStyle: 'full' }).format(day.at) : '' })} rows={rows} top={forecast.peak?.fires ?? 0} marked={marked}
            changes={changing} chosen={cell} onChoose={setChosen} onOpen={open} unit={t('timeline.perMinute')}
          />
          <p className={classes.cell} role="status" data-cell="">
            {cell === undefined ? (
              <span className="dim">{t(touch ? 'timeline.heat.chooseTouch' : 'timeline.heat.choose')}</span>
            ) : (
              <>
                <Filled text={value === undefined ? t('timeline.heat.unknown', { at: slot }) : t('timeline.heat.fires', { at: slot, count: value })}><strong>{clockOf(zone, cell)}</strong></Filled>
                {crowded.has(cell) && <> · <span className={classes.warn}>{t('timeline.heat.crowded', { count: forecast.peaks[Math.floor((cell - minutes.start) / minute)] ?? 0, slots: t('timeline.piles.slots', { count: forecast.slots ?? 0 }) })}</span></>}
                {marked.has(cell) && !crowded.has(cell) && <> · <span className={classes.warn}>{t('timeline.heat.isPileUp')}</span></>}{' '}
                {(value ?? 0) > 0 && <Link to="/ledger" search={{ range: 'custom', from: isoOf(cell), to: isoOf(cell + minute), status: 'planned', group: search.group }}>{t('timeline.heat.which')}</Link>}
              </>
            )}
          </p>
          <ChartTable
            caption={t('timeline.heat.table')} head={[t('timeline.heat.hour'), t('timeline.heat.firesName'), t('timeline.heat.fullest'), t('timeline.heat.inIt')]}
            rows={rows.map((row) => {
              const most = row.cells.reduce<number>((max, n) => Math.max(max, n ?? 0), 0);
              const at = row.cells.indexOf(most);
              return {
                id: String(row.at),
                cells: [`${row.clock} ${row.offset}`.trim(), number.format(row.cells.reduce<number>((sum, n) => sum + (n ?? 0), 0)), most > 0 ? clockOf(zone, row.at + at * minute) : '–', number.format(most)],
              };
            })}
          />
        </Panel>
        <div className={classes.side}>
          <PileUps pileUps={pileUps} forecast={forecast} onLook={look} write={(at) => formatTime(at, i18n.language)} />
          <ClockChanges changes={changes} />
        </div>
      </div>
    </>
  );
}
