import { ActionIcon, Button, Group, SegmentedControl } from '@mantine/core';
import { useEffect, useId, useRef, useState, type KeyboardEvent, type PointerEvent } from 'react';
import { useTranslation } from 'react-i18next';
import { useCalendar, type CalendarDay } from '../../api/calendar.ts';
import type { Job } from '../../api/types.ts';
import { listed } from '../../lib/lists.ts';
import { useNow } from '../../lib/useNow.ts';
import { Icon } from '../../parts/icons.tsx';
import { Panel } from '../../parts/Panel.tsx';
import { ProblemNotice } from '../../parts/ProblemNotice.tsx';
import { zoneOf } from '../../parts/scheduleText.ts';
import { Waiting } from '../../parts/Waiting.tsx';
import { DayFires } from './DayFires.tsx';
import classes from './FireCalendar.module.css';
import { chosenOf, countsOf, dateFor, dateIn, datesOf, dayLooks, dayStates, monthAfter, monthsOf, selectedDays, stateOf, timesOf, type Selection } from './fireCalendar.ts';
import { useStateName } from './useStateName.ts';

/** A range of time, the end exclusive. */
export interface TimeRange {
  from: string;
  to: string;
}

interface Props {
  job: Job;
  /** Called for a selected range; undefined if no backfill can be requested now. */
  onRange: ((range: TimeRange) => void) | undefined;
  /** The last month shown, such as 2026-03; the current one if undefined. */
  until: string | undefined;
  onUntil: (month: string) => void;
  /** The backfill whose dates are marked. */
  backfill?: string | undefined;
  /** Ends the marks; undefined if they stay. */
  onUnmark?: () => void;
}

/** The outcomes of a job's fires by day, in the time zone of the job, and the fires of a chosen day. */
export function FireCalendar({ job, onRange, until, onUntil, backfill, onUnmark }: Props) {
  const { t, i18n } = useTranslation();
  const [months, setMonths] = useState(() => (window.matchMedia('(max-width: 48em)').matches ? 1 : 3));
  const [opened, setOpened] = useState<string>();
  const today = dateIn(zoneOf(job) ?? 'UTC', useNow(60_000));
  const current = today.slice(0, 7);
  const last = until ?? current;
  const { from, to } = datesOf(last, months);
  const calendar = useCalendar(job.name, from, to, backfill);
  const days = calendar.data?.days;
  const day = days?.find(({ date }) => date === opened);
  const turn = (by: number) => {
    const next = monthAfter(last, by);
    onUntil(next > current && by > 0 ? current : next);
  };
  return (
    <Panel
      title={t('fireCalendar.title')} help={t('fireCalendar.help')}
      side={
        <Group gap="xs">
          <ActionIcon variant="default" size={30} aria-label={t('fireCalendar.earlier')} onClick={() => turn(-months)}><Icon name="left" size={16} /></ActionIcon>
          <ActionIcon variant="default" size={30} aria-label={t('fireCalendar.later')} disabled={last >= current} onClick={() => turn(months)}><Icon name="right" size={16} /></ActionIcon>
          <SegmentedControl
            size="xs" aria-label={t('fireCalendar.months')} value={String(months)} onChange={(value) => setMonths(Number(value))}
            data={[1, 3, 12].map((count) => ({ value: String(count), label: t('fireCalendar.monthsShown', { count }) }))}
          />
        </Group>
      }
    >
      {calendar.error && !days && <ProblemNotice error={calendar.error} onRetry={() => void calendar.refetch()} />}
      {!days && !calendar.error && <Waiting rows={6} />}
      {days && (
        <>
          {backfill !== undefined && (
            <p className={classes.marked} data-marked="">
              <span className={classes.sample} data-chosen="" aria-hidden="true" />
              {t('fireCalendar.marked')}
              {onUnmark && <Button variant="subtle" size="compact-xs" onClick={onUnmark}>{t('fireCalendar.unmark')}</Button>}
            </p>
          )}
          <Months days={days} today={today} opened={opened} onOpen={setOpened} onRange={onRange} busy={calendar.isPlaceholderData} />
          <Legend days={days} today={today} />
          <p className="small dim">
            {t('fireCalendar.zone', { zone: calendar.data?.timezone })}
            {onRange && <span className={classes.howTo}>{i18n.language === 'zh' ? '' : ' '}{t('fireCalendar.howTo')}</span>}
          </p>
        </>
      )}
      {day && <DayFires key={day.date} job={job.name} day={day} counts={countsOf(day, day.date > today)} onBackfill={onRange && day.date <= today && day.planned > 0 ? () => onRange(timesOf([day]) ?? day) : undefined} onClose={() => setOpened(undefined)} />}
    </Panel>
  );
}

interface MonthsProps {
  days: readonly CalendarDay[];
  today: string;
  opened: string | undefined;
  onOpen: (date: string) => void;
  onRange: Props['onRange'];
  busy: boolean;
}

/** The days as a grid for pointer and keyboard: a day opens its fires, several days a new backfill. */
function Months({ days, today, opened, onOpen, onRange, busy }: MonthsProps) {
  const { t, i18n } = useTranslation();
  const id = useId();
  const frame = useRef<HTMLDivElement>(null);
  const bounds = { first: days[0]?.date ?? '', last: days.at(-1)?.date ?? '' };
  const [at, setAt] = useState(today);
  const stop = at < bounds.first ? bounds.first : at > bounds.last ? bounds.last : at;
  const [selection, setSelection] = useState<Selection>();
  // The selection that a pressed pointer extends.
  const dragged = useRef<Selection>(undefined);
  const selected = selection ? selectedDays(days, selection, today) : [];
  const monthName = new Intl.DateTimeFormat(i18n.language, { year: 'numeric', month: 'long', timeZone: 'UTC' });
  const short = new Intl.DateTimeFormat(i18n.language, { weekday: 'narrow', timeZone: 'UTC' });
  const long = new Intl.DateTimeFormat(i18n.language, { weekday: 'long', timeZone: 'UTC' });
  const weekdays = Array.from({ length: 7 }, (_, i) => Date.UTC(2024, 0, 1 + i));
  const ask = (range: Selection) => {
    const times = timesOf(selectedDays(days, range, today));
    setSelection(undefined);
    if (times) onRange?.(times);
  };
  const dateAt = (event: { target: EventTarget }) => (event.target as Element).closest<HTMLElement>('[data-date]')?.dataset.date;

  const open = (date: string) => {
    setAt(date);
    onOpen(date);
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key === 'Escape' && selection) {
      event.stopPropagation();
      return setSelection(undefined);
    }
    if (event.key === 'Enter' || event.key === ' ') {
      event.preventDefault();
      return selected.length > 1 && selection ? ask(selection) : onOpen(stop);
    }
    const next = dateFor(event.key, stop, bounds);
    if (next === undefined || event.ctrlKey || event.altKey || event.metaKey) return;
    event.preventDefault();
    setAt(next);
    setSelection(event.shiftKey && onRange ? { from: selection?.from ?? stop, to: next } : undefined);
    frame.current?.querySelector<HTMLElement>(`[data-date="${next}"]`)?.focus();
  };
  const onPointerDown = (event: PointerEvent) => {
    const date = dateAt(event);
    // A finger scrolls the page.
    if (date === undefined || event.button !== 0 || event.pointerType === 'touch') return;
    if (onRange && date <= today) dragged.current = { from: date, to: date };
  };
  const onPointerOver = (event: PointerEvent) => {
    const date = dateAt(event);
    if (date === undefined || !dragged.current || event.buttons !== 1 || date === dragged.current.to) return;
    dragged.current = { from: dragged.current.from, to: date };
    setSelection(dragged.current);
  };
  useEffect(() => {
    const end = () => {
      const range = dragged.current;
      dragged.current = undefined;
      if (range && range.from !== range.to) ask(range);
      else if (range) setSelection(undefined);
    };
    window.addEventListener('pointerup', end);
    return () => window.removeEventListener('pointerup', end);
  });
  const [first, end] = [selected[0], selected.at(-1)];
  const dayName = new Intl.DateTimeFormat(i18n.language, { month: 'short', day: 'numeric', timeZone: 'UTC' });
  const chosen = new Set(selected.map(({ date }) => date));

  return (
    <div className={classes.frame} ref={frame} aria-busy={busy}>
      <div role="grid" aria-label={t('fireCalendar.title')} aria-readonly="true" aria-multiselectable={onRange !== undefined} aria-describedby={id} className={classes.months} onKeyDown={onKeyDown} onPointerDown={onPointerDown} onPointerOver={onPointerOver}>
        {monthsOf(days).map(({ month, weeks }) => (
          <div key={month} role="rowgroup" className={classes.month}>
            <div role="row"><span role="columnheader" aria-colspan={7} className={classes.name}>{monthName.format(Date.parse(`${month}-01T00:00:00Z`))}</span></div>
            <div role="row" className={classes.week}>
              {weekdays.map((weekday) => <span key={weekday} role="columnheader" aria-label={long.format(weekday)} className={classes.weekday}>{short.format(weekday)}</span>)}
            </div>
            {weeks.map((week, row) => (
              <div key={row} role="row" className={classes.week}>
                {week.map((day, column) => (day ? <Cell key={day.date} day={day} column={column} today={today} stop={day.date === stop} selected={chosen.has(day.date)} opened={day.date === opened} onClick={open} /> : <span key={column} role="gridcell" />))}
              </div>
            ))}
          </div>
        ))}
      </div>
      <p id={id} className={classes.selected} aria-live="polite">
        {first && end && selected.length > 1 && t('fireCalendar.selected', { count: selected.length, from: dayName.format(Date.parse(first.date)), to: dayName.format(Date.parse(end.date)) })}
      </p>
    </div>
  );
}

interface CellProps {
  day: CalendarDay;
  column: number;
  today: string;
  stop: boolean;
  selected: boolean;
  opened: boolean;
  onClick: (date: string) => void;
}

/** A day: its number, the sign and colour of its state, and the number of its fires in that state if there are several. */
function Cell({ day, column, today, stop, selected, opened, onClick }: CellProps) {
  const { t, i18n } = useTranslation();
  const nameOf = useStateName();
  const future = day.date > today;
  const { state, count } = stateOf(day, future);
  const { icon, tone } = dayLooks[state];
  const full = new Intl.DateTimeFormat(i18n.language, { dateStyle: 'full', timeZone: 'UTC' }).format(Date.parse(day.date));
  const counts = countsOf(day, future);
  const words = counts.length > 0 ? listed(counts.map((one) => t('backfill.figure', { count: one.count, status: nameOf(one.state) })), i18n.language) : nameOf('none');
  const chosen = chosenOf(day);
  const dates = chosen.length > 0 && t('fireCalendar.chosen', { figures: listed(chosen.map((one) => t('backfill.figure', { count: one.count, status: t(`status.${one.status}`) })), i18n.language) });
  const compact = new Intl.NumberFormat('en', { notation: 'compact', maximumFractionDigits: 0 });
  return (
    <span
      role="gridcell" aria-colindex={column + 1} className={classes.day} tabIndex={stop ? 0 : -1} aria-label={[full, words, dates].filter(Boolean).join(', ')} title={[full, words, dates].filter(Boolean).join('\n')} aria-selected={selected} aria-current={day.date === today ? 'date' : undefined}
      data-date={day.date} data-state={state} data-tone={tone} data-future={future || undefined} data-opened={opened || undefined} data-chosen={dates ? '' : undefined} onClick={() => onClick(day.date)}
    >
      <span className={classes.number} aria-hidden="true">{Number(day.date.slice(8))}</span>
      <span className={classes.sign} aria-hidden="true">{icon && <Icon name={icon} size={14} />}{state === 'planned' && '·'}{icon && count > 1 && <span>{compact.format(count)}</span>}</span>
    </span>
  );
}

/** The states of the days shown. */
function Legend({ days, today }: { days: readonly CalendarDay[]; today: string }) {
  const nameOf = useStateName();
  const shown = new Set(days.map((day) => stateOf(day, day.date > today).state));
  return (
    <ul className={classes.legend}>
      {dayStates.filter((state) => shown.has(state)).map((state) => {
        const { icon, tone } = dayLooks[state];
        return (
          <li key={state}>
            <span className={classes.sample} data-state={state} data-tone={tone} aria-hidden="true">{icon && <Icon name={icon} size={11} />}{state === 'planned' && '·'}</span>
            {nameOf(state)}
          </li>
        );
      })}
    </ul>
  );
}
