// @vitest-environment happy-dom
import { expect, it } from 'vitest';
import { createTranslator, setLanguage } from '../../i18n/index.ts';
import { deliveryText } from './deliveryText.ts';

it.each([
  ['finance.invoices has recovered', 'finance.invoices 已恢复正常'],
  ['Pay out sellers (finance.payouts) failed (exit 3) on vm', '任务 Pay out sellers (finance.payouts) 失败（退出码 3）；工作节点 vm'],
  ['a timed out; it keeps failing and recovering', '任务 a 超时；时好时坏'],
  ['a: step load failed (SIGKILL) on w-1', 'a 的步骤 load 失败（SIGKILL）；工作节点 w-1'],
  ['2 more jobs are in trouble', '另有 2 个任务出现故障'],
  ['after quiet hours: 2 jobs are in trouble, 1 job has recovered', '免打扰时段内：2 个任务出现故障，1 个任务已恢复'],
  ['a was paused: it failed 5 times in a row', 'a 连续失败 5 次，已被暂停'],
  ['Poll (poll) skips fires: 4 of its last 10', 'Poll (poll) 经常跳过触发：最近 10 次中有 4 次'],
  ['backfill of a succeeded', '任务 a 的回填 成功'],
  ['a sentence of a newer server', 'a sentence of a newer server'],
])('%s is %s', async (text, want) => {
  const translator = await createTranslator();
  expect(deliveryText(translator.t, 'en', text)).toBe(text);
  await setLanguage(translator, 'zh');
  expect(deliveryText(translator.t, 'zh', text)).toBe(want);
});
