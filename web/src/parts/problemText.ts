import type { TFunction } from 'i18next';
import { Problem, ServerAway, type Fault } from '../api/problem.ts';

/** The translation of a text that the server gave in English, by its code; undefined for a code that has none. */
export function serverText(t: TFunction, key: string, data?: Record<string, string>): string | undefined {
  // Keys are made from the server's codes, which are not known when this is compiled.
  const text = (t as (key: string, options: object) => string)(key, { ...data, ns: 'server', defaultValue: '' });
  return text === '' ? undefined : text;
}

/** The sentence for an error: the server's own words in English, a translation by code elsewhere. */
export function problemText(t: TFunction, language: string, error: Error): { text: string; hint?: string | undefined } {
  if (error instanceof ServerAway) return { text: t('problem.away') };
  if (!(error instanceof Problem)) return { text: t('problem.unexpected') };
  if (language === 'en') return { text: sentence(error.message), hint: error.hint };
  return { text: serverText(t, `codes.${error.code}`) ?? error.message };
}

/** The sentence for one fault of what was sent, to be shown at its field. */
export function faultText(t: TFunction, language: string, fault: Fault): string {
  const translated = language === 'en' || fault.code === undefined ? undefined : serverText(t, `faults.${fault.code}`);
  if (translated !== undefined) return translated;
  return [sentence(fault.message), fault.hint ? sentence(fault.hint) : ''].filter(Boolean).join(' ');
}

export function sentence(text: string): string {
  const begun = text.charAt(0).toUpperCase() + text.slice(1);
  return /[.!?。！？:]$/.test(begun) ? begun : `${begun}.`;
}
