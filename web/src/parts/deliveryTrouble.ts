import type { TFunction } from 'i18next';
import type { Delivery } from '../api/types.ts';

// For the other codes, the error says the same.
const withError: readonly string[] = ['refused', 'gone', 'gave_up', 'trouble'];

/**
 * Returns why a delivery failed or waits, with the status that the receiver answered, once; and the rest of the error,
 * which is for admins.
 */
export function deliveryTrouble(t: TFunction, { code, error = '', answer, kind }: Pick<Delivery, 'code' | 'error' | 'answer' | 'kind'>): { said: string; detail: string } {
  if (!code) return { said: '', detail: '' };
  if (!withError.includes(code)) return { said: t(`deliveries.codes.${code}`), detail: '' };
  if (answer === undefined) return { said: t(`deliveries.codes.${code}`), detail: error };
  const status = `${kind === 'mail' ? 'SMTP' : 'HTTP'} ${answer}`;
  const answered = /^the receiver answered (\d+)[^:]*(?:: )?/.exec(error);
  return { said: t(`deliveries.answered.${code as 'refused' | 'gone' | 'gave_up' | 'trouble'}`, { status }), detail: answered?.[1] === String(answer) ? error.slice(answered[0].length) : error };
}
