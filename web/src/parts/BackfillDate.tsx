import { useTranslation } from 'react-i18next';
import { Filled, slot } from './Filled.tsx';
import { TimeText } from './TimeText.tsx';

/** The past date that a run of a backfill processes: its planned time. */
export function BackfillDate({ at }: { at: string }) {
  const { t } = useTranslation();
  return <Filled text={t('backfillOf', { date: slot })}><TimeText at={at} /></Filled>;
}
