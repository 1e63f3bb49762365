import { expect, it } from 'vitest';
import { commonOf, inOneLine, labelNames, oneGroup, patchOf, usualSettings, type Settings, type SettingSection } from './manySettings.ts';

const form = (on: SettingSection[], more: object = {}) => ({ ...usualSettings, on: new Set(on), ...more });

it('changes only the sections that are switched on', () => {
  expect(patchOf(form([]))).toEqual({});
  expect(patchOf(form(['notify', 'retry', 'group'], { channels: ['ops'], group: ' shop/eu ' }))).toEqual({ notify: { on: ['failed', 'missed', 'lost'], to: ['ops'] }, group: 'shop/eu', retry: { max: 3 } });
  expect(patchOf(form(['timeout', 'placement', 'labels']))).toEqual({});
  expect(patchOf(form(['timeout', 'placement'], { timeout: '1h', selector: 'zone=eu' }))).toEqual({ timeout: '1h', placement: { selector: 'zone=eu' } });
});

it('removes labels, own values and the group by null', () => {
  expect(patchOf(form(['labels'], { labels: ['team=data', 'eq=a=b', 'bare='], without: ['old', 'team'] }))).toEqual({ labels: { team: 'data', eq: 'a=b', bare: '', old: null } });
  expect(patchOf(form(['retry', 'notify', 'group'], { unset: new Set(['retry', 'notify']) }))).toEqual({ retry: null, notify: null, group: null });
});

it('leaves a wrong number to the server', () => expect(patchOf(form(['retry'], { max: 'many' }))).toEqual({ retry: { max: 'many' } }));

it('finds what jobs have in common', () => {
  const jobs: Settings[] = [{ name: 'a', group: 'g', retry: { max: 1 }, labels: { x: '1' } }, { name: 'b', group: 'g', retry: { max: 2 }, labels: { y: '', x: '2' } }];
  expect(commonOf(jobs, 'retry')).toEqual({ mixed: true, value: undefined });
  expect(commonOf(jobs, 'timeout')).toEqual({ mixed: false, value: undefined });
  expect(commonOf(jobs, 'group')).toEqual({ mixed: false, value: 'g' });
  expect([labelNames(jobs), oneGroup(jobs), oneGroup([...jobs, { name: 'c' }])]).toEqual([['x', 'y'], 'g', undefined]);
});

it('writes a value in one line', () => {
  expect(inOneLine({ on: ['failed', 'missed'], to: ['ops'] })).toBe('on: failed, missed; to: ops');
  expect(inOneLine('1h')).toBe('1h');
  expect(inOneLine({ max: 3, backoff: '30s' })).toBe('max: 3; backoff: 30s');
});
