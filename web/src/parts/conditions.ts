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
const ofTheCluster = new Set<string>(['etcd_full', 'worker_lost', 'no_workers', 'unreadable', 'misses_feature', 'housekeeping_fails', 'no_elected_master', 'fires_overdue', 'fire_without_entry', 'cursor_in_future', 'defaults_refused']);
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

/** Reports whether the words of a condition have a time: beside it, its start would be a second one. */
export function hasTime(t: TFunction, language: string, condition: Condition): boolean {
  const { title, text } = conditionWords(t, language, condition);
  return Object.values(condition.data ?? {}).some((value) => isTime(value) && `${title} ${text}`.includes(formatTime(value, language)));
}

/** Things that a condition names, and that have a page. */
export type NamedKind = 'job' | 'run' | 'channel' | 'worker';

export interface ConditionPart {
  text: string;
  /** The text is the name of this. */
  kind?: NamedKind;
}

// The data fields of conditions with names.
const named: Record<string, Record<string, NamedKind>> = {
  fires_overdue: { first: 'job' }, fire_without_entry: { job: 'job' }, cursor_in_future: { first: 'job' }, update_stuck: { job: 'job' }, function_stuck: { job: 'job', run: 'run' }, defaults_refused: { job: 'job' },
  notify_failing: { channels: 'channel' }, worker_lost: { worker: 'worker' }, misses_feature: { worker: 'worker' },
};

/** Returns what a condition is about, by its kind. */
export function namesIn({ code, data }: Pick<Condition, 'code' | 'data'>): { kind: NamedKind; name: string }[] {
  return Object.entries(named[code] ?? {}).flatMap(([field, kind]) => namesOfField(data?.[field], kind).map((name) => ({ kind, name })));
}

// A field has several channels, of which the last may be cut; no other name has a comma.
const namesOfField = (value: string | undefined, kind: NamedKind) => (value ?? '').split(kind === 'channel' ? ', ' : '\n').filter((name) => name !== '' && !(kind === 'channel' && name.endsWith('…')));

/** Returns title and consequence of a condition, split at the names in it, for links. */
export function conditionParts(t: TFunction, language: string, condition: Condition): { title: ConditionPart[]; text: ConditionPart[] } {
  const marked: ConditionPart[] = [];
  // A mark that no name contains.
  const mark = (part: ConditionPart) => `[[${marked.push(part) - 1}]]`;
  const data = Object.fromEntries(Object.entries(condition.data ?? {}).map(([field, value]) => {
    const kind = named[condition.code]?.[field];
    if (kind === undefined) return [field, value];
    const known = new Set(namesOfField(value, kind));
    return [field, kind === 'channel' ? value.split(', ').map((name) => (known.has(name) ? mark({ text: name, kind }) : name)).join(', ') : known.has(value) ? mark({ text: value, kind }) : value];
  }));
  const words = conditionWords(t, language, { ...condition, data });
  const parts = (text: string): ConditionPart[] => text.split(/\[\[(\d+)\]\]/).flatMap((part, i) => (i % 2 === 1 ? [marked[Number(part)] ?? { text: part }] : part === '' ? [] : [{ text: part }]));
  return { title: parts(words.title), text: parts(words.text) };
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
