import { createInstance } from 'i18next';
import { expect, it } from 'vitest';
import { zhServer } from '../i18n/zh/server.ts';
import { formatTime } from '../lib/time.ts';
import { reasonText } from './reasonText.ts';

const translator = createInstance({ lng: 'zh', initAsync: false, resources: { zh: { translation: {}, server: zhServer } }, interpolation: { escapeValue: false } });
void translator.init();
const t = translator.getFixedT('zh');

it('uses the server’s words in English, with times in the viewer’s zone', () => {
  const until = '2026-12-01T10:00:00Z';
  expect(reasonText(t, 'en', { code: 'backoff', data: { until }, text: `it is tried again at ${until}` })).toBe(`It is tried again ${formatTime(until, 'en')}`);
  expect(reasonText(t, 'zh', { code: 'backoff', data: { until }, text: '' })).toBe(`将于 ${formatTime(until, 'zh')} 重试`);
});

it('translates by code, with the data', () => {
  expect(reasonText(t, 'zh', { code: 'paused', data: { note: 'moving house' }, text: 'the job was paused: moving house' })).toBe('任务已暂停：moving house');
  expect(reasonText(t, 'zh', { code: 'no_worker', data: { alive: '3', selector: '2', draining: '1' }, text: '' })).toBe('没有工作节点可以运行它：在线 3 个，2 个标签不符，1 个正在排空');
  expect(reasonText(t, 'zh', { code: 'no_worker', data: { alive: '1', selector: '1', requires: 'gpu=true' }, text: '' })).toBe('没有工作节点可以运行它：在线 1 个，1 个标签不符，需要 gpu=true');
  expect(reasonText(t, 'zh', { code: 'timeout', data: { after: '1m30s' }, text: '' })).toBe('运行超过了超时时间 1 分 30 秒');
  expect(reasonText(t, 'zh', { code: 'no_slot', data: { slots: '4', used: '4', takes: '1' }, text: '' }, 'verdicts')).toBe('4 个槽位已用 4 个，而一次运行需要 1 个');
  expect(reasonText(t, 'zh', { code: 'needs_feature', data: { needs: 'detach' }, text: '' })).toBe('任务需要 detach，此版本的工作节点不支持');
  expect(reasonText(t, 'zh', { code: 'needs_feature', data: { needs: 'detach' }, text: '' }, 'verdicts')).toBe('版本较旧，不支持任务所需的 detach');
});

it('names the signal of a kill request, and an immediate kill', () => {
  const killed = (data: Record<string, string>) => reasonText(t, 'zh', { code: 'killed_by_user', data: { by: 'ada', ...data }, text: '' });
  expect(killed({})).toBe('由 ada 终止');
  expect(killed({ signal: 'TERM', note: 'wrong host' })).toBe('由 ada 终止：wrong host');
  expect(killed({ signal: 'KILL' })).toBe('由 ada 以 KILL 终止');
  expect(killed({ signal: 'TERM', atOnceBy: 'bob' })).toBe('由 ada 终止：bob 要求立即结束');
  expect(reasonText(t, 'zh', { code: 'signal', data: { signal: 'SIGSEGV' }, text: '' })).toBe('被信号 SIGSEGV 结束');
});

it('shows the fires that a step waits for in the viewer’s zone and language', () => {
  const at = '2026-03-02T08:00:00Z';
  const data = { job: 'import', open: '2', total: '6', at1: at, fires: `${at} (timed out), ${at} (not run), ${at} (older than the retention), …` };
  const text = `it waits for 2 of 6 fires of job "import": ${data.fires}`;
  const words = createInstance({ lng: 'zh', initAsync: false, resources: { zh: { translation: { status: { timed_out: '超时', failed: '失败' }, flow: { notRun: '未运行', notKept: '早于保留期' } }, server: zhServer } }, interpolation: { escapeValue: false } });
  void words.init();
  const inChinese = words.getFixedT('zh');
  expect(reasonText(inChinese, 'zh', { code: 'waits_for_fires', data, text })).toBe(`等待任务 import 的触发（共 6 次，2 次尚未成功）：${formatTime(at, 'zh')} (超时), ${formatTime(at, 'zh')} (未运行), ${formatTime(at, 'zh')} (早于保留期), …`);
  expect(reasonText(inChinese, 'en', { code: 'waits_for_fires', data, text })).toBe(`It waits for 2 of 6 fires of job "import": ${formatTime(at, 'en')} (超时), ${formatTime(at, 'en')} (未运行), ${formatTime(at, 'en')} (早于保留期), …`);
  const earlier = { ...data, fires: `${at} (not_run), ${at} (timed_out)` };
  expect(reasonText(inChinese, 'zh', { code: 'waits_for_fires', data: earlier, text: '' })).toContain(`${formatTime(at, 'zh')} (未运行), ${formatTime(at, 'zh')} (超时)`);
  expect(reasonText(inChinese, 'zh', { code: 'fire_failed', data: { job: 'import', at, status: 'failed' }, text: '' })).toBe(`任务 import 在 ${formatTime(at, 'zh')} 的触发未成功：失败`);
});

it('shows unknown codes unchanged', () => expect(reasonText(t, 'zh', { code: 'later', text: 'something new' })).toBe('Something new'));
