import i18next from 'i18next';
import { expect, it } from 'vitest';
import { tighten, tightenAt, tightenChinese } from './tighten.ts';

it.each([
  ['晚 {{delay}} 开始', { delay: '5 分钟' }, '晚 {{delay}}开始'],
  ['{{range}} 之内', { range: '最近 1 小时' }, '{{range}}之内'],
  ['自 {{at}} 起', { at: '今天 14:03' }, '自{{at}} 起'],
  ['共 {{count}} 个', { count: 3 }, '共 {{count}} 个'],
  ['用户 {{who}} 的 {{what}} 规则', { who: 'ann', what: '通知' }, '用户 {{who}} 的{{what}}规则'],
  ['{{a}} {{b}}', { a: '甲', b: '乙' }, '{{a}} {{b}}'],
])('%s with %j', (template, values, want) => expect(tighten(template, values)).toBe(want));

it('applies to Chinese alone', async () => {
  const instance = i18next.createInstance();
  await instance.init({ lng: 'zh', fallbackLng: false, interpolation: { escapeValue: false }, resources: { zh: { translation: { late: '晚 {{delay}} 开始' } }, en: { translation: { late: '晚 {{delay}} 开始' } } } });
  tightenChinese(instance);
  // Not one of the console's keys.
  const t = instance.t as unknown as (key: string, values: object) => string;
  expect(t('late', { delay: '5 分钟' })).toBe('晚 5 分钟开始');
  expect(t('late', { lng: 'en', delay: '5 分钟' })).toBe('晚 5 分钟 开始');
});

it('removes the spaces at a gap that begins or ends with Chinese', () => {
  expect(tightenAt('自 _ 起', '_', '今天 06:00')).toBe('自_ 起');
  expect(tightenAt('自 _ 起', '_', '11月20日周五 06:00')).toBe('自 _ 起');
  expect(tightenAt('将于 _ 重试', '_', '3 小时前')).toBe('将于 _重试');
});
