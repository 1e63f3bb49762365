// @vitest-environment happy-dom
import { expect, it } from 'vitest';
import type { Finding } from '../../api/types.ts';
import { createTranslator, loadRest } from '../../i18n/index.ts';
import { bySeverity } from './findings.ts';
import { wordsOf } from './FindingList.tsx';

it('the worst findings come first, in the server’s order', () => {
  const found = (check: string, status: Finding['status']): Finding => ({ check, status, text: '' });
  const groups = bySeverity([found('a', 'ok'), found('b', 'failing'), found('c', 'warning'), found('d', 'failing')]);
  expect(groups.map(({ status, findings }) => [status, findings.map(({ check }) => check).join('')])).toEqual([['failing', 'bd'], ['warning', 'c'], ['ok', 'a']]);
  expect(bySeverity([])).toEqual([]);
});

it('names the job and the channel of a problem for links, pages in place of commands, and local times', async () => {
  const translator = await createTranslator();
  await loadRest(translator);
  const overdue: Finding = {
    check: 'jobs', status: 'failing', condition: 'fires_overdue', text: 'the first is ops.gpu, due since 2026-11-27T22:00:00Z', data: { count: '1', first: 'ops.gpu', since: '2026-11-27T22:00:00Z' },
    advice: 'Find out why no worker claims them: cronctl describe job ops.gpu lists the eligible workers.',
  };
  const failing: Finding = { check: 'notifications', status: 'warning', condition: 'notify_failing', text: 'x', data: { channels: 'pager' }, advice: 'cronctl get deliveries --channel pager' };
  for (const [finding, part] of [[overdue, { text: 'ops.gpu', kind: 'job' }], [failing, { text: 'pager', kind: 'channel' }]] as const) {
    const { text, advice } = wordsOf(translator.t, 'en', finding);
    expect(text).toContainEqual(part);
    expect(JSON.stringify([text, advice])).not.toMatch(/cronctl|2026-11-27T/);
    expect(advice).toHaveLength(1);
  }
  const elected = wordsOf(translator.t, 'en', { check: 'elected', status: 'ok', text: 'master vm, since 2020-11-30 00:10 UTC' }).text[0]?.text ?? '';
  expect(elected).toMatch(/^Master vm, since .*2020/);
  expect(elected).not.toContain('UTC');
});
