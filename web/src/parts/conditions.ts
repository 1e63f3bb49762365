import type { TFunction } from 'i18next';
import type { Condition } from '../api/types.ts';
import { listed } from '../lib/lists.ts';
import { formatTime, isTime } from '../lib/time.ts';
import { visible } from '../lib/visible.ts';

/** A problem of the cluster: the conditions of the same kind from all sources. */
export interface Mode {
  id: string;
  condition: Condition;
  /** The earliest start time. */
  since: string;
  /** The sources, if it concerns them and not the whole cluster. */
  who: string[];
  /** It prevents runs. */
  grave: boolean;
}

// These concern the whole cluster, whatever their source.
const ofTheCluster = new Set<string>(['etcd_full', 'worker_lost', 'no_workers', 'unreadable', 'misses_feature', 'housekeeping_fails', 'no_elected_master', 'fires_overdue', 'fire_without_entry', 'cursor_in_future']);
// These concern one worker, which their data names.
const aboutOne = new Set<string>(['worker_lost', 'misses_feature']);
const graveCodes = new Set<string>(['etcd_away', 'etcd_full', 'no_workers', 'no_elected_master', 'etcd_went_back']);

/** Groups conditions by kind; most severe first, then oldest. */
export function modesOf(conditions: readonly Condition[]): Mode[] {
  const modes = new Map<string, Mode>();
  for (const condition of conditions) {
    const about = aboutOne.has(condition.code) ? condition.data?.worker : condition.data?.loop;
    const id = about === undefined ? condition.code : `${condition.code} ${about}`;
    const mode = modes.get(id) ?? { id, condition, since: condition.since, who: [], grave: graveCodes.has(condition.code) };
    if (Date.parse(condition.since) < Date.parse(mode.since)) mode.since = condition.since;
    if (condition.who && !ofTheCluster.has(condition.code) && !mode.who.includes(condition.who)) mode.who.push(condition.who);
    mode.grave ||= condition.stopsClaims === true;
    modes.set(id, mode);
  }
  for (const mode of modes.values()) mode.who.sort();
  return [...modes.values()].sort((a, b) => Number(b.grave) - Number(a.grave) || Date.parse(a.since) - Date.parse(b.since) || a.id.localeCompare(b.id));
}

/**
 * Returns text and consequence of a condition with times in the viewer's zone; an unknown one is shown in the server's
 * words.
 */
export function conditionWords(t: TFunction, language: string, { code, data, text }: Condition): { title: string; text: string } {
  const localised = Object.fromEntries(Object.entries(data ?? {}).map(([key, value]) => [key, isTime(value) ? formatTime(value, language) : value]));
  // Keys are built from the server's codes, which are unknown at compile time.
  const effect = data?.loop === undefined ? '' : (t as (key: string, options: object) => string)(`loopEffects.${data.loop}`, { defaultValue: '' });
  const textOf = (part: string) => (t as (key: string, options: object) => string)(`conditions.${code}.${part}`, { error: '', effect, ...localised, defaultValue: '' });
  const title = textOf('title');
  if (title === '') return { title: visible(text.charAt(0).toUpperCase() + text.slice(1)), text: '' };
  return { title: visible(title), text: visible(textOf('text').trim()) };
}

// The data field of a condition that names a job.
const jobWord: Record<string, string> = { fires_overdue: 'first', fire_without_entry: 'job', cursor_in_future: 'first' };
// A character that no job name contains.
const gap = '[job]';

/** Returns the consequence of a condition, split at the name of its job, for a link. */
export function conditionText(t: TFunction, language: string, condition: Condition): { before: string; job?: string; after: string } {
  const word = jobWord[condition.code];
  const job = word === undefined ? undefined : condition.data?.[word];
  if (word === undefined || !job) return { before: conditionWords(t, language, condition).text, after: '' };
  const { text } = conditionWords(t, language, { ...condition, data: { ...condition.data, [word]: gap } });
  const [before = '', after] = text.split(gap);
  return after === undefined ? { before, after: '' } : { before, job, after };
}

/** Returns a key that changes when the condition gets worse. */
export const occurrenceOf = ({ id, since, condition }: Mode): string => [id, since, condition.data?.count ?? ''].join(' ');

const namesShown = 4;

/** Joins names to a list of limited length. */
export function namesOf(t: TFunction, language: string, names: readonly string[]): string {
  const left = names.length - namesShown;
  const shown = listed(names.slice(0, left === 1 ? names.length : namesShown).map(visible), language);
  return left > 1 ? t('degraded.more', { names: shown, count: left }) : shown;
}
