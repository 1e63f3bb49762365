// @vitest-environment happy-dom
import { expect, it } from 'vitest';
import { createTranslator, setLanguage } from '../../i18n/index.ts';
import { deliveryText } from './deliveryText.ts';

it.each([
  ['recovered', { job: 'finance.invoices' }, 'finance.invoices 已恢复正常'],
  ['ended', { job: 'Pay out sellers (finance.payouts)', how: 'failed', exit: '3', worker: 'vm' }, '任务 Pay out sellers (finance.payouts) 失败（退出码 3）；工作节点 vm'],
  ['ended', { job: 'a', how: 'timed_out', flapping: 'true' }, '任务 a 超时；时好时坏'],
  ['step', { job: 'a', step: 'load', how: 'failed', signal: 'SIGKILL', worker: 'w-1' }, 'a 的步骤 load 失败（SIGKILL）；工作节点 w-1'],
  ['more_trouble', { count: '2' }, '另有 2 个任务出现故障'],
  ['digest', { trouble: '2', recovered: '1', printed: '0' }, '免打扰时段内：2 个任务出现故障，1 个任务已恢复'],
  ['paused', { job: 'a', count: '5' }, 'a 连续失败 5 次，已被暂停'],
  ['skipped', { job: 'Poll (poll)', count: '4', of: '10' }, 'Poll (poll) 经常跳过触发：最近 10 次中有 4 次'],
  ['ended', { job: 'a', backfill: 'true', how: 'succeeded' }, '任务 a 的回填 成功'],
  ['of_a_newer_server', {}, 'its words'],
])('%s of %o is %s', async (code, data, want) => {
  const translator = await createTranslator();
  const delivery = { text: 'its words', headline: { code, data, text: 'its words' } };
  expect(deliveryText(translator.t, 'en', delivery)).toBe('its words');
  await setLanguage(translator, 'zh');
  expect(deliveryText(translator.t, 'zh', delivery)).toBe(want);
  expect(deliveryText(translator.t, 'zh', { text: 'of an older master' })).toBe('of an older master');
});
