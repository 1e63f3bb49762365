import { createInstance } from 'i18next';
import { expect, it } from 'vitest';
import { Problem } from '../api/problem.ts';
import { zhServer } from '../i18n/zh/server.ts';
import { faultText, filledText, problemText } from './problemText.ts';

const translator = createInstance({ lng: 'zh', initAsync: false, resources: { zh: { translation: {}, server: zhServer } }, interpolation: { escapeValue: false } });
void translator.init();
const t = translator.getFixedT('zh');

const fault = (code: string, data?: Record<string, string>) => faultText(t, 'zh', { location: 'x', message: 'in English', code, data });

it('fills faults with their data if there is any', () => {
  expect(fault('too_long', { characters: '200' })).toBe('最多 200 个字符。');
  expect(fault('too_long', { bytes: '8192' })).toBe('最多 8192 字节。');
  expect(fault('too_long')).toBe('过长。');
  expect(fault('range', { least: '1s', most: '24h0m0s' })).toBe('须在 1 秒 到 1 天 之间。');
  expect(fault('range', { least: '1', most: '9' })).toBe('须在 1 到 9 之间。');
  expect(fault('range', { third: 'lostAfter', of: '1m0s' })).toBe('不能超过“视为丢失”（1 分钟）的三分之一。');
  expect(fault('exclusive', { without: 'cronExpr' })).toBe('没有“Cron 表达式”时不起作用。');
  expect(fault('enum', { allowed: 'a, b' })).toBe('只能是以下之一：a, b。');
});

it('names the position of a fault in a cron expression, and the allowed values', () => {
  expect(fault('cron_field_range', { field: 'minute', at: '1', text: '61' })).toBe('“分”字段，第 1 个字符：“61”超出范围。此字段可用 0–59、H、*、?、列表、范围和步长。');
  expect(fault('cron_syntax', { field: 'month', at: '7', text: '' })).toMatch(/^“月”字段，第 7 个字符：此处缺少一个值。/);
  expect(fault('cron_never', { field: 'expression', at: '1', text: '0' })).toBe('此表达式永远不会触发。');
});

it('shows unknown codes in the server’s words', () => {
  expect(fault('new_code')).toBe('In English.');
  expect(faultText(t, 'en', { location: 'x', message: 'must be at most 200 characters', code: 'too_long', hint: 'write less' })).toBe('Must be at most 200 characters. Write less.');
});

it('distinguishes problems with the same code by their reason', () => {
  const said = (body: ConstructorParameters<typeof Problem>[1]) => problemText(t, 'zh', new Problem(409, body)).text;
  expect(said({ code: 'conflict', reason: 'last_admin' })).toBe('这是最后一位能够登录的管理员。请先将另一位设有密码的用户设为管理员。');
  expect(said({ code: 'conflict', reason: 'something_new' })).toBe('当前状态下无法执行此操作。');
  expect(said({ code: 'forbidden', reason: 'role', data: { need: 'editor', has: 'viewer' } })).toBe('需要“编辑者”角色，您的角色是“查看者”。');
  expect(problemText(t, 'en', new Problem(409, { detail: 'it has ended', hint: 'look again' }))).toEqual({ text: 'It has ended.', hint: 'Look again.' });
});

it('describes the effect of clock changes on a schedule', () => {
  const data = { local: '2026-03-29 02:30:00', zone: 'Europe/Berlin' };
  expect(filledText(t, 'zh', 'notes', 'dst_gap_skip', data)).toBe('Europe/Berlin 的 2026-03-29 02:30:00 不存在：不触发。');
  expect(filledText(t, 'zh', 'notes', 'dst_real_time', { ...data, resume: '2026-03-29 03:00:00' })).toMatch(/时钟拨快到 2026-03-29 03:00:00/);
  expect(filledText(t, 'zh', 'notes', 'dst_real_time', data)).toMatch(/出现两次/);
});
