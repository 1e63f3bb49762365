import { useTranslation } from 'react-i18next';
import type { DayState } from './fireCalendar.ts';

/** Returns the names of the states of a day. */
export function useStateName(): (state: DayState) => string {
  const { t } = useTranslation();
  return (state) => (state === 'backfill' || state === 'unrecorded' || state === 'none' ? t(`fireCalendar.states.${state}`) : t(`status.${state}`));
}
