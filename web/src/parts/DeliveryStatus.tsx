import { useTranslation } from 'react-i18next';
import type { Delivery } from '../api/types.ts';
import { ToneBadge } from './ToneBadge.tsx';

const looks = { waiting: { icon: 'clock', tone: 'idle' }, retrying: { icon: 'refresh', tone: 'warn' }, sent: { icon: 'check', tone: 'ok' }, failed: { icon: 'close', tone: 'bad' } } as const;

/** The status of a delivery. One that waits after a failed try is retrying. */
export function DeliveryStatus({ delivery: { status, attempts } }: { delivery: Pick<Delivery, 'status' | 'attempts'> }) {
  const { t } = useTranslation();
  const shown = status === 'waiting' && attempts > 0 ? 'retrying' : status;
  return <ToneBadge {...looks[shown]} data-delivery={shown}>{t(`deliveries.status.${shown}`)}</ToneBadge>;
}
