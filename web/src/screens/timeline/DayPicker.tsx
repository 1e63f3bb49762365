import { useTranslation } from 'react-i18next';
import type { ClockChange } from '../../api/forecast.ts';
import { localZone } from '../../lib/localTime.ts';
import { Icon } from '../../parts/icons.tsx';
import { dateOf, type DaySum } from '../../parts/heat/rows.ts';
import classes from './Forecast.module.css';

interface Props {
  days: readonly DaySum[];
  chosen: string | undefined;
  changes: readonly ClockChange[];
  onChoose: (date: string) => void;
}

/** The days of the forecast with their totals. */
export function DayPicker({ days, chosen, changes, onChoose }: Props) {
  const { t, i18n } = useTranslation();
  const zone = localZone();
  const weekday = new Intl.DateTimeFormat(i18n.language, { weekday: 'short' });
  const date = new Intl.DateTimeFormat(i18n.language, { month: 'short', day: 'numeric' });
  const number = new Intl.NumberFormat(i18n.language, { notation: 'compact' });
  const most = Math.max(1, ...days.map((day) => day.fires));
  const changing = new Set(changes.map(({ at }) => dateOf(zone, Date.parse(at))));
  return (
    <div className={classes.days} role="group" aria-label={t('timeline.heat.days')}>
      {days.map((day) => (
        <button key={day.date} type="button" className={classes.day} aria-pressed={day.date === chosen} onClick={() => onChoose(day.date)}>
          <span className={classes.dayName}>
            <span>{weekday.format(day.at)}</span> <strong>{date.format(day.at)}</strong>
            {changing.has(day.date) && <span className={classes.warn} title={t('timeline.heat.clocksChange')}><Icon name="clock" size={13} /><span className="unseen">{t('timeline.heat.clocksChange')}</span></span>}
          </span>
          <span className={classes.dayBar} aria-hidden="true"><span style={{ width: `${(day.fires / most) * 100}%` }} /></span>
          <span className="small dim">{t('timeline.heat.dayFires', { count: day.fires, fires: number.format(day.fires), peak: number.format(day.peak) })}</span>
        </button>
      ))}
    </div>
  );
}
