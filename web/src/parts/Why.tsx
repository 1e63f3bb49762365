import { useTranslation } from 'react-i18next';
import type { Reason } from '../api/types.ts';
import { visible } from '../lib/visible.ts';
import { reasonText } from './reasonText.ts';

/** A reason in the reader's language. */
export function Why({ reason, of }: { reason: Reason; of?: 'reasons' | 'verdicts' }) {
  const { t, i18n } = useTranslation();
  return <bdi>{visible(reasonText(t, i18n.language, reason, of))}</bdi>;
}
