import { useNavigate } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { endings } from '../../lib/figures.ts';
import classes from './Calendar.module.css';
import { calendarOf, type Day } from './calendar.ts';

const step = 14;
const size = 12;
const left = 30;
const top = 14;

const outcomes = ['ok', 'some', 'most', 'idle'] as const;

/**
 * Outcome of each day, a column for each week. The table of the chart beside it has the figures; a day links to its
 * fires.
 */
export function Calendar({ job, days, timezone }: { job: string; days: readonly Day[]; timezone: string }) {
  const { t, i18n } = useTranslation();
  const navigate = useNavigate();
  const placed = calendarOf(days);
  const weeks = (placed.at(-1)?.week ?? 0) + 1;
  const dayName = new Intl.DateTimeFormat(i18n.language, { weekday: 'short', timeZone: 'UTC' });
  const month = new Intl.DateTimeFormat(i18n.language, { month: 'short', timeZone: timezone });
  const full = new Intl.DateTimeFormat(i18n.language, { dateStyle: 'full', timeZone: timezone });
  const number = new Intl.NumberFormat(i18n.language);
  const open = (i: number) => {
    const from = placed[i]?.at;
    if (from === undefined) return;
    const to = placed[i + 1]?.at;
    void navigate({ to: '/ledger', search: { job, range: 'custom', from: new Date(from).toISOString(), ...(to && { to: new Date(to).toISOString() }) } });
  };
  return (
    <figure className={classes.figure}>
      <figcaption>{t('statistics.calendar')}</figcaption>
      <div className={classes.frame}>
        <svg className={classes.days} width={left + weeks * step} height={top + 7 * step} role="img" aria-label={t('statistics.calendar')}>
          {[0, 2, 4].map((weekday) => (
            <text key={weekday} x={0} y={top + weekday * step + size - 2}>{dayName.format(Date.UTC(2024, 0, 1 + weekday))}</text>
          ))}
          {placed.map((day, i) => (
            <g key={day.at} data-outcome={day.outcome} data-day={day.at.slice(0, 10)} onClick={() => open(i)}>
              <title>
                {[full.format(new Date(day.at)), ...endings.filter(({ status }) => day.statuses[status] > 0).map(({ status }) => `${t(`status.${status}`)} ${number.format(day.statuses[status])}`)].join('\n')}
              </title>
              {day.at.slice(8, 10) === '01' && day.week < weeks - 1 && <text x={left + day.week * step} y={top - 4}>{month.format(new Date(day.at))}</text>}
              <Mark x={left + day.week * step} y={top + day.weekday * step} outcome={day.outcome} />
            </g>
          ))}
        </svg>
      </div>
      <ul className={classes.legend}>
        {outcomes.map((outcome) => (
          <li key={outcome}>
            <svg className={classes.days} width={size} height={size} aria-hidden="true"><g data-outcome={outcome}><Mark x={0} y={0} outcome={outcome} /></g></svg>
            {t(`statistics.outcomes.${outcome}`)}
          </li>
        ))}
      </ul>
    </figure>
  );
}

/** A day; shape and colour show failures. */
function Mark({ x, y, outcome }: { x: number; y: number; outcome: string }) {
  return (
    <>
      <rect x={x} y={y} width={size} height={size} rx={2} />
      {outcome === 'some' && <path d={`M${x + 3} ${y + 9}l6 -6`} />}
      {outcome === 'most' && <path d={`M${x + 3} ${y + 9}l6 -6M${x + 3} ${y + 3}l6 6`} />}
      {outcome === 'idle' && <path d={`M${x + 3} ${y + 6}h6`} />}
    </>
  );
}
