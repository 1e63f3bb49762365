import { Link } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { Filled, slot } from './Filled.tsx';
import { TimeText } from './TimeText.tsx';

/** The past date that a run of a backfill processes: its planned time. It links to the backfill, if that is known. */
export function BackfillDate({ at, backfill }: { at: string; backfill?: string | undefined }) {
  const { t } = useTranslation();
  const text = <Filled text={t('backfillOf', { date: slot })}><TimeText at={at} /></Filled>;
  return backfill === undefined ? text : <Link to="/backfills/$id" params={{ id: backfill }}>{text}</Link>;
}

/** Returns the backfill of which a run is a date; undefined for other runs. */
export const backfillOf = ({ flow }: { flow?: { kind: string; run: string } | undefined }): string | undefined => (flow?.kind === 'backfill' ? flow.run : undefined);
