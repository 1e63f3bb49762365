import { createInstance } from 'i18next';
import { expect, it } from 'vitest';
import type { Condition } from '../api/types.ts';
import { en } from '../i18n/en/index.ts';
import { zh } from '../i18n/zh/index.ts';
import { conditionText, conditionWords, modesOf, namesOf, occurrenceOf } from './conditions.ts';

const translator = createInstance({ lng: 'zh', initAsync: false, resources: { en: { translation: en }, zh: { translation: zh } }, interpolation: { escapeValue: false } });
void translator.init();
const t = translator.getFixedT('zh');
const english = translator.getFixedT('en');

function told(code: Condition['code'], who: string, minute: number, more: Partial<Condition> = {}): Condition {
  return { code, who, text: `the text of ${code}`, since: new Date(Date.UTC(2026, 10, 1, 3, minute)).toISOString(), ...more };
}

it('puts together what several tell of the same thing', () => {
  const modes = modesOf([told('log_store_away', 'north', 5), told('log_store_away', 'east', 3), told('log_store_away', 'north', 4)]);
  expect(modes).toHaveLength(1);
  expect(modes[0]).toMatchObject({ who: ['east', 'north'], since: '2026-11-01T03:03:00.000Z', grave: false });
});

it('shows the gravest first, then the oldest', () => {
  const modes = modesOf([told('clock_off', 'a', 1), told('log_store_away', 'm', 0), told('no_workers', 'm', 9), told('disk_full', 'b', 8, { stopsClaims: true })]);
  expect(modes.map((mode) => [mode.id, mode.grave])).toEqual([['disk_full', true], ['no_workers', true], ['log_store_away', false], ['clock_off', false]]);
});

it('tells two lost workers apart, and not who noticed', () => {
  const modes = modesOf([told('worker_lost', 'm1', 1, { data: { worker: 'b', runs: '2' } }), told('worker_lost', 'm1', 0, { data: { worker: 'a', runs: '1' } })]);
  expect(modes.map((mode) => mode.id)).toEqual(['worker_lost a', 'worker_lost b']);
  expect(modes[0]?.who).toEqual([]);
});

it('words what it knows by code, with what is in the data', () => {
  expect(conditionWords(t, 'zh', told('worker_lost', 'm', 0, { data: { worker: 'a', runs: '2' } })).title).toBe('工作节点 a 已失联。');
  expect(conditionWords(english, 'en', told('worker_lost', 'm', 0, { data: { worker: 'a', runs: '2' } })).text).toContain('Its unresolved runs: 2.');
  expect(conditionWords(english, 'en', told('unreadable', 'm', 0, { data: { count: '3', first: 'x\u202ey' } }))).toEqual({
    title: 'Unreadable entries in etcd: 3.', text: expect.not.stringContaining('\u202e') as string,
  });
});

it('finds the job in the words, for a link', () => {
  const overdue = told('fires_overdue', 'm', 0, { data: { count: '1', first: 'ops.gpu', since: '2026-11-01T03:00:00Z' } });
  expect(conditionText(english, 'en', overdue)).toEqual({ before: 'No worker claimed them. The first is ', job: 'ops.gpu', after: expect.stringMatching(/^, due since/) as string });
  expect(conditionText(t, 'zh', overdue)).toMatchObject({ before: '没有工作节点领取它们。第一个是 ', job: 'ops.gpu' });
  expect(conditionText(english, 'en', told('no_workers', 'm', 0))).toEqual({ before: 'Nothing runs until a worker starts.', after: '' });
});

it('tells anew what became worse', () => {
  const of = (minute: number, count: string) => modesOf([told('fires_overdue', 'm', minute, { data: { count, first: 'a' } })]).map(occurrenceOf)[0];
  expect(of(1, '1')).toBe(of(1, '1'));
  expect(new Set([of(1, '1'), of(1, '2'), of(2, '1')]).size).toBe(3);
});

it('shows what it does not know as it came', () => expect(conditionWords(t, 'zh', told('later' as 'etcd_full', 'm', 0))).toEqual({ title: 'The text of later', text: '' }));

it('keeps lists of names short', () => {
  const names = ['a', 'b', 'c', 'd', 'e', 'f'];
  expect(namesOf(english, 'en', names.slice(0, 5))).toBe('a, b, c, d, e');
  expect(namesOf(english, 'en', names)).toBe('a, b, c, d and 2 more');
});

it('tells two stuck loops apart, and what each of them stops', () => {
  const stuck = (loop: string) => told('loop_stuck', 'north', 1, { data: { loop, error: 'permission denied' } });
  expect(modesOf([stuck('delivery'), stuck('recovery'), { ...stuck('recovery'), who: 'east' }]).map((mode) => [mode.id, mode.who])).toEqual([['loop_stuck delivery', ['north']], ['loop_stuck recovery', ['east', 'north']]]);
  expect(conditionWords(english, 'en', stuck('delivery'))).toEqual({ title: 'A background task is stuck: delivery.', text: 'Outcomes and output do not reach the log store. permission denied' });
});
