import { createInstance } from 'i18next';
import { expect, it } from 'vitest';
import type { Condition } from '../api/types.ts';
import { en } from '../i18n/en/index.ts';
import { zh } from '../i18n/zh/index.ts';
import { conditionParts, conditionWords, hasTime, modesOf, namesIn, namesOf, occurrenceOf } from './conditions.ts';

const translator = createInstance({ lng: 'zh', initAsync: false, resources: { en: { translation: en }, zh: { translation: zh } }, interpolation: { escapeValue: false } });
void translator.init();
const t = translator.getFixedT('zh');
const english = translator.getFixedT('en');

function condition(code: Condition['code'], who: string, minute: number, more: Partial<Condition> = {}): Condition {
  return { code, who, text: `the text of ${code}`, since: new Date(Date.UTC(2026, 10, 1, 3, minute)).toISOString(), ...more };
}

it('groups equal conditions of several sources', () => {
  const modes = modesOf([condition('log_store_away', 'north', 5), condition('log_store_away', 'east', 3), condition('log_store_away', 'north', 4)]);
  expect(modes).toHaveLength(1);
  expect(modes[0]).toMatchObject({ who: ['east', 'north'], since: '2026-11-01T03:03:00.000Z', grave: false });
});

it('sorts by severity, then by age', () => {
  const modes = modesOf([condition('clock_off', 'a', 1), condition('log_store_away', 'm', 0), condition('no_workers', 'm', 9), condition('disk_full', 'b', 8, { stopsClaims: true })]);
  expect(modes.map((mode) => [mode.id, mode.grave])).toEqual([['disk_full', true], ['no_workers', true], ['log_store_away', false], ['clock_off', false]]);
});

it('distinguishes lost workers, but not the sources', () => {
  const modes = modesOf([condition('worker_lost', 'm1', 1, { data: { worker: 'b', runs: '2' } }), condition('worker_lost', 'm1', 0, { data: { worker: 'a', runs: '1' } })]);
  expect(modes.map((mode) => mode.id)).toEqual(['worker_lost a', 'worker_lost b']);
  expect(modes[0]?.who).toEqual([]);
});

it('translates known codes with their data', () => {
  expect(conditionWords(t, 'zh', condition('worker_lost', 'm', 0, { data: { worker: 'a', runs: '2' } })).title).toBe('工作节点 a 已失联。');
  expect(conditionWords(english, 'en', condition('worker_lost', 'm', 0, { data: { worker: 'a', runs: '2' } })).text).toContain('Its unresolved runs: 2.');
  expect(conditionWords(english, 'en', condition('unreadable', 'm', 0, { data: { count: '3', first: 'x\u202ey' } }))).toEqual({
    title: 'Unreadable entries in etcd: 3.', text: expect.not.stringContaining('\u202e') as string,
  });
});

it('splits the words at the names in them, for links', () => {
  const overdue = condition('fires_overdue', 'm', 0, { data: { count: '1', first: 'ops.gpu', since: '2026-11-01T03:00:00Z' } });
  expect(conditionParts(english, 'en', overdue).text).toEqual([{ text: 'No worker picked up the fire of ' }, { text: 'ops.gpu', kind: 'job' }, { text: expect.stringMatching(/^\. Check the job/) as string }]);
  expect(conditionParts(t, 'zh', overdue).text[0]).toEqual({ text: 'ops.gpu', kind: 'job' });
  expect(conditionParts(english, 'en', condition('no_workers', 'm', 0)).text).toEqual([{ text: 'Nothing runs until a worker starts.' }]);
  // Also in the title, several at once, of which the last was cut.
  const failing = condition('notify_failing', 'm', 0, { data: { channels: 'pager-broken, ops, of-a-ve…' } });
  expect(conditionParts(english, 'en', failing).title).toEqual([{ text: 'Deliveries fail. Channels: ' }, { text: 'pager-broken', kind: 'channel' }, { text: ', ' }, { text: 'ops', kind: 'channel' }, { text: ', of-a-ve….' }]);
  expect(conditionParts(t, 'zh', condition('worker_lost', 'm', 0, { data: { worker: 'vm-1', runs: '2' } })).title).toContainEqual({ text: 'vm-1', kind: 'worker' });
  expect(namesIn(condition('function_stuck', 'm', 0, { data: { job: 'a', run: 'a.f.1', seconds: '3' } }))).toEqual([{ kind: 'job', name: 'a' }, { kind: 'run', name: 'a.f.1' }]);
});

it('changes the key when a condition gets worse', () => {
  const of = (minute: number, count: string) => modesOf([condition('fires_overdue', 'm', minute, { data: { count, first: 'a' } })]).map(occurrenceOf)[0];
  expect(of(1, '1')).toBe(of(1, '1'));
  expect(new Set([of(1, '1'), of(1, '2'), of(2, '1')]).size).toBe(3);
});

it('shows unknown codes unchanged', () => expect(conditionWords(t, 'zh', condition('later' as 'etcd_full', 'm', 0))).toEqual({ title: 'The text of later', text: '' }));

it('keeps lists of names short', () => {
  const names = ['a', 'b', 'c', 'd', 'e', 'f'];
  expect(namesOf(english, 'en', names.slice(0, 5))).toBe('a, b, c, d, e');
  expect(namesOf(english, 'en', names)).toBe('a, b, c, d and 2 more');
});

it('distinguishes stuck loops and their consequences', () => {
  const stuck = (loop: string) => condition('loop_stuck', 'north', 1, { data: { loop, error: 'permission denied' } });
  expect(modesOf([stuck('delivery'), stuck('recovery'), { ...stuck('recovery'), who: 'east' }]).map((mode) => [mode.id, mode.who])).toEqual([['loop_stuck delivery', ['north']], ['loop_stuck recovery', ['east', 'north']]]);
  expect(conditionWords(english, 'en', stuck('delivery'))).toEqual({ title: 'A background task is stuck: delivery.', text: 'Outcomes and output do not reach the log store. permission denied' });
});

it('finds a time that the words of a condition have, and not one that they leave out', () => {
  const at = '2026-11-01T03:00:00Z';
  expect(hasTime(english, 'en', condition('notifications_behind', 'm', 0, { data: { at } }))).toBe(true);
  expect(hasTime(english, 'en', condition('fires_overdue', 'm', 0, { data: { count: '1', first: 'a', since: at } }))).toBe(false);
  expect(hasTime(english, 'en', condition('no_workers', 'm', 0))).toBe(false);
});
