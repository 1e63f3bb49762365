import { ActionIcon } from '@mantine/core';
import { useEffect, useRef, useState, type KeyboardEvent } from 'react';
import { useTranslation } from 'react-i18next';
import { weeksOf } from '../lib/whenText.ts';
import { Icon } from './icons.tsx';
import classes from './WhenField.module.css';

const sameDay = (a: Date, b: Date | undefined) => a.toDateString() === b?.toDateString();
const steps: Record<string, number> = { ArrowLeft: -1, ArrowRight: 1, ArrowUp: -7, ArrowDown: 7 };

/** The days of a month, to choose one: by pointer, or with the arrow keys and Enter. */
export function MonthGrid({ chosen, onChoose }: { chosen: Date | undefined; onChoose: (day: Date) => void }) {
  const { t, i18n } = useTranslation();
  const today = new Date();
  const [at, setAt] = useState(chosen ?? today);
  const moved = useRef(false);
  const table = useRef<HTMLTableElement>(null);
  useEffect(() => {
    if (moved.current) table.current?.querySelector<HTMLElement>('[tabindex="0"]')?.focus();
    moved.current = false;
  }, [at]);
  const weeks = weeksOf(at.getFullYear(), at.getMonth());
  const turn = (months: number) => setAt(new Date(at.getFullYear(), at.getMonth() + months, 1));
  const name = new Intl.DateTimeFormat(i18n.language, { weekday: 'short' });
  const full = new Intl.DateTimeFormat(i18n.language, { dateStyle: 'full' });
  const onKey = (event: KeyboardEvent) => {
    const step = steps[event.key];
    if (step === undefined) return;
    event.preventDefault();
    moved.current = true;
    setAt(new Date(at.getFullYear(), at.getMonth(), at.getDate() + step));
  };
  return (
    <div>
      <div className={classes.month}>
        <ActionIcon variant="subtle" color="gray" data-mantine-stop-propagation="true" aria-label={t('when.previous')} onClick={() => turn(-1)}><Icon name="left" size={16} /></ActionIcon>
        <strong aria-live="polite">{new Intl.DateTimeFormat(i18n.language, { year: 'numeric', month: 'long' }).format(at)}</strong>
        <ActionIcon variant="subtle" color="gray" data-mantine-stop-propagation="true" aria-label={t('when.next')} onClick={() => turn(1)}><Icon name="right" size={16} /></ActionIcon>
      </div>
      <table ref={table} className={classes.days} onKeyDown={onKey}>
        <thead>
          <tr>{weeks[0]?.map((day) => <th key={day.getDay()} scope="col">{name.format(day)}</th>)}</tr>
        </thead>
        <tbody>
          {weeks.map((week) => (
            <tr key={week[0]?.getTime()}>
              {week.map((day) => (
                <td key={day.getTime()}>
                  <button
                    type="button" data-mantine-stop-propagation="true" tabIndex={sameDay(day, at) ? 0 : -1} aria-label={full.format(day)} aria-pressed={sameDay(day, chosen)}
                    data-today={sameDay(day, today) || undefined} data-beyond={day.getMonth() !== at.getMonth() || undefined} onClick={() => onChoose(day)}
                  >
                    {day.getDate()}
                  </button>
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
