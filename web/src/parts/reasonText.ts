import type { TFunction } from 'i18next';
import type { FireStatus, Reason } from '../api/types.ts';
import { formatSeconds, parseDuration } from '../lib/duration.ts';
import { formatTime, isTime } from '../lib/time.ts';
import { visible } from '../lib/visible.ts';
import { serverText } from './problemText.ts';

/**
 * Returns why a fire or run ended as it did, waits, or did not happen, or why a worker may not run a job. The server's
 * words in English, a translation by code otherwise; times are in the viewer's zone.
 */
export function reasonText(t: TFunction, language: string, reason: Reason, of: 'reasons' | 'verdicts' = 'reasons'): string {
  const data = reason.data ?? {};
  const times = Object.values(data).filter((value) => isTime(value));
  // Formatted times begin with the day: "tried again today 14:03".
  const local = (text: string) => times.reduce((said, time) => said.replaceAll(new RegExp(`(\\bat )?${time.replace(/[.+]/g, '\\$&')}`, 'g'), formatTime(time, language)), text);
  const localised = Object.fromEntries(Object.entries(data).map(([key, value]) => [key, key === 'fires' ? local(firesText(t, value)) : reason.code === 'fire_failed' && key === 'status' ? t(`status.${value as FireStatus}`) : isTime(value) ? formatTime(value, language) : key === 'after' ? lengthText(value, language) : value]));
  const said = local(data.fires === undefined ? reason.text : reason.text.replace(data.fires, firesText(t, data.fires)));
  const own = said.charAt(0).toUpperCase() + said.slice(1);
  if (language === 'en') return own;
  // The signal of a kill request is shown if it was not the usual one.
  const asked = data.signal !== undefined && data.signal !== 'TERM' ? serverText(t, `${of}.${reason.code}_with`, localised) : undefined;
  const bounded = data.until === undefined ? undefined : serverText(t, `${of}.${reason.code}_until`, localised);
  const decided = data.root === undefined ? undefined : serverText(t, `${of}.${reason.code}_${data.none !== undefined ? 'none' : data.root === data.step ? 'step' : 'root'}`, localised);
  const unread = data.total === undefined ? serverText(t, `${of}.${reason.code}_unread`, localised) : undefined;
  const text = asked ?? bounded ?? decided ?? unread ?? serverText(t, `${of}.${reason.code}`, localised);
  if (text === undefined) return own;
  const counted = Object.entries(localised).map(([code, n]) => (reason.code === 'no_worker' ? serverText(t, `groups.${code}`, { n }) : undefined));
  const needs = data.requires === undefined ? undefined : serverText(t, `${of}.no_worker_requires`, localised);
  const place = data.position === undefined ? undefined : serverText(t, `${of}.${reason.code}_position`, localised);
  const more = [place ?? '', counted.filter((part) => part !== undefined).concat(needs ?? []).join('，'), localised.note ?? '', data.notRetried === undefined ? '' : (serverText(t, `${of}.not_retried`, localised) ?? ''), data.atOnceBy === undefined ? '' : (serverText(t, `${of}.at_once`, localised) ?? '')].filter((part) => part !== '');
  return [text, ...more].join('：');
}

/** A warning in words. The English ones begin with the name of a step or a parameter, as it is written. */
export function warningText(t: TFunction, language: string, warning: Reason): string {
  return language.startsWith('en') ? visible(warning.text) : reasonText(t, language, warning);
}

/** Translates the statuses in a list of fires: "2026-03-02T08:00:00Z (timed out), …". Entries of earlier versions have "timed_out", "not_run". */
function firesText(t: TFunction, fires: string): string {
  return fires.replaceAll(/\(([a-z_ ]+)\)/g, (_, words: string) => {
    const status = words.replaceAll(' ', '_');
    return `(${status === 'not_run' ? t('flow.notRun') : status === 'older_than_the_retention' ? t('flow.notKept') : t(`status.${status as FireStatus}`)})`;
  });
}

/** Formats a duration of the server in the reader's language. */
function lengthText(text: string, language: string): string {
  const seconds = parseDuration(text);
  return seconds === undefined ? text : formatSeconds(seconds, language);
}
