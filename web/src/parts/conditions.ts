import type { TFunction } from 'i18next';
import type { Condition } from '../api/types.ts';
import { listed } from '../lib/lists.ts';
import { formatTime, isTime } from '../lib/time.ts';
import { visible } from '../lib/visible.ts';

/** A degraded mode: what several parties tell of the same thing, together. */
export interface Mode {
  id: string;
  condition: Condition;
  /** When the first of them noticed it. */
  since: string;
  /** Who tells of it, where it is theirs and not the whole cluster's. */
  who: string[];
  /** Nothing, or nothing more, runs because of it. */
  grave: boolean;
}

// These are the same for everybody: who tells of them does not matter.
const ofTheCluster = new Set<string>(['etcd_full', 'worker_lost', 'no_workers', 'unreadable', 'misses_feature', 'housekeeping_fails', 'no_elected_master', 'fires_overdue', 'fire_without_entry', 'cursor_in_future']);
// These are about one worker each, who is in the data.
const aboutOne = new Set<string>(['worker_lost', 'misses_feature']);
const graveCodes = new Set<string>(['etcd_away', 'etcd_full', 'no_workers', 'no_elected_master', 'etcd_went_back']);

/** Puts conditions together by what they are; the gravest first, then the oldest. */
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

/** What a condition is, with times in the viewer's zone, and what follows from it; one that the console does not know is shown in the server's words. */
export function conditionWords(t: TFunction, language: string, { code, data, text }: Condition): { title: string; text: string } {
  const localised = Object.fromEntries(Object.entries(data ?? {}).map(([key, value]) => [key, isTime(value) ? formatTime(value, language) : value]));
  // Keys are made from the server's codes, which are not known when this is compiled.
  const effect = data?.loop === undefined ? '' : (t as (key: string, options: object) => string)(`loopEffects.${data.loop}`, { defaultValue: '' });
  const say = (part: string) => (t as (key: string, options: object) => string)(`conditions.${code}.${part}`, { error: '', effect, ...localised, defaultValue: '' });
  const title = say('title');
  if (title === '') return { title: visible(text.charAt(0).toUpperCase() + text.slice(1)), text: '' };
  return { title: visible(title), text: visible(say('text').trim()) };
}

// The word of a condition's data that names a job.
const jobWord: Record<string, string> = { fires_overdue: 'first', fire_without_entry: 'job', cursor_in_future: 'first' };
// No job can have it in its name.
const gap = '[job]';

/** The text that follows from a condition, split at the job that it names, for a link there. */
export function conditionText(t: TFunction, language: string, condition: Condition): { before: string; job?: string; after: string } {
  const word = jobWord[condition.code];
  const job = word === undefined ? undefined : condition.data?.[word];
  if (word === undefined || !job) return { before: conditionWords(t, language, condition).text, after: '' };
  const { text } = conditionWords(t, language, { ...condition, data: { ...condition.data, [word]: gap } });
  const [before = '', after] = text.split(gap);
  return after === undefined ? { before, after: '' } : { before, job, after };
}

/** What tells a mode from the same one later, when more is wrong than there was. */
export const occurrenceOf = ({ id, since, condition }: Mode): string => [id, since, condition.data?.count ?? ''].join(' ');

const namesShown = 4;

/** A list of names that stays short. */
export function namesOf(t: TFunction, language: string, names: readonly string[]): string {
  const left = names.length - namesShown;
  const shown = listed(names.slice(0, left === 1 ? names.length : namesShown).map(visible), language);
  return left > 1 ? t('degraded.more', { names: shown, count: left }) : shown;
}
