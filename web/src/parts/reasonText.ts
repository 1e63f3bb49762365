import type { TFunction } from 'i18next';
import type { Run } from '../api/types.ts';

/** Why a run ended as it did, or did not happen: the server's words in English, a translation by code elsewhere. */
export function reasonText(t: TFunction, language: string, reason: NonNullable<Run['reason']>): string {
  if (language === 'en') return reason.text;
  // The key is made from the server's code, which is not known when this is compiled.
  return (t as (key: string, options: object) => string)(`reason.${reason.code}`, { ...reason.data, defaultValue: reason.text });
}
