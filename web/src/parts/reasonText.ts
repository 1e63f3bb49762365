import type { TFunction } from 'i18next';
import type { Run } from '../api/types.ts';
import { serverText } from './problemText.ts';

/** Why a run ended as it did, or did not happen: the server's words in English, a translation by code elsewhere. */
export function reasonText(t: TFunction, language: string, reason: NonNullable<Run['reason']>): string {
  if (language === 'en') return reason.text;
  return serverText(t, `reasons.${reason.code}`, reason.data) ?? reason.text;
}
