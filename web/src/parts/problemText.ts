import type { TFunction } from 'i18next';
import { Problem, ServerAway, type Fault } from '../api/problem.ts';
import { formatSeconds, parseDuration } from '../lib/duration.ts';
import { sentences } from '../lib/lists.ts';

/** Returns the translation of a server text by its code; undefined for an unknown code. */
export function serverText(t: TFunction, key: string, data?: Record<string, string>): string | undefined {
  // Keys are built from the server's codes, which are unknown at compile time.
  const text = (t as (key: string, options: object) => string)(key, { ...data, ns: 'server', defaultValue: '' });
  return text === '' ? undefined : text;
}

// Durations in data have Go's format, such as 24h0m0s; fields and roles are named as in the API.
const lengths = new Set(['least', 'most', 'of']);
const names = new Set(['field', 'after', 'beside', 'without', 'third', 'thrice', 'need', 'has']);

/** Returns the data of a text in the reader's language: labels of fields and roles, formatted durations. */
function dataText(t: TFunction, language: string, data: Record<string, string>): Record<string, string> {
  return Object.fromEntries(Object.entries(data).map(([key, value]) => {
    const seconds = lengths.has(key) && value !== '0' ? parseDuration(value) : undefined;
    if (seconds !== undefined) return [key, seconds === 0 ? '0' : formatSeconds(seconds, language)];
    return [key, (names.has(key) ? serverText(t, `words.${value}`) : undefined) ?? value];
  }));
}

/**
 * Returns the translation for a code and its data: the one for exactly these data fields, else the one without data.
 */
export function filledText(t: TFunction, language: string, area: string, code: string, data: Record<string, string> = {}): string | undefined {
  const words = dataText(t, language, data);
  const given = Object.keys(data).filter((name) => data[name] !== '').sort().join('_');
  return (given === '' ? undefined : serverText(t, `${area}With.${code}.${given}`, words)) ?? serverText(t, `${area}.${code}`, words);
}

/** Returns the text of an error: the server's own words in English, a translation by code otherwise. */
export function problemText(t: TFunction, language: string, error: Error): { text: string; hint?: string | undefined } {
  if (error instanceof ServerAway) return { text: t('problem.away') };
  if (!(error instanceof Problem)) return { text: t('problem.unexpected') };
  if (language === 'en') return { text: sentence(error.message), hint: error.hint && sentence(error.hint) };
  return { text: (error.reason && filledText(t, language, 'problems', error.reason, error.data)) || (serverText(t, `codes.${error.code}`) ?? error.message) };
}

/** Returns the text of a fault, to be shown at its field. */
export function faultText(t: TFunction, language: string, fault: Fault): string {
  const translated = language === 'en' || fault.code === undefined ? undefined : filledText(t, language, 'faults', fault.code, fault.data);
  if (translated === undefined) return sentences([sentence(fault.message), fault.hint && sentence(fault.hint)], language);
  // A fault in a field of a cron expression names its position and the allowed values; a fault of the whole expression
  // needs no position.
  const { field = '', at = '' } = fault.data ?? {};
  const where = field === '' || field === 'expression' ? undefined : filledText(t, language, 'cron', 'where', { field, at });
  return sentences([(where ?? '') + translated, serverText(t, `cronTakes.${field}`)], language);
}

export function sentence(text: string): string {
  const begun = text.charAt(0).toUpperCase() + text.slice(1);
  return /[.!?。！？:]$/.test(begun) ? begun : `${begun}.`;
}
