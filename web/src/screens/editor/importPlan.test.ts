import { expect, it } from 'vitest';
import type { CrontabLine } from '../../api/crontab.ts';
import { addressesOf, asMailTo, channelsFor, rowsOf, type Decision } from './importPlan.ts';
import { keysOf } from './lineKeys.ts';

const line = (number: number, name: string, more: Partial<CrontabLine> = {}): CrontabLine => ({ line: number, text: `line ${number}`, job: { name, command: 'make', cronExpr: '@daily' }, ...more });

function plan(lines: CrontabLine[], decisions: Record<number, Decision> = {}, channel = '') {
  const keys = keysOf(lines);
  return rowsOf(lines, keys, new Map(lines.flatMap((one) => (decisions[one.line] ? [[keys.get(one) ?? '', decisions[one.line] ?? {}]] : []))), channel);
}

it('takes what can be imported, and what was imported before only if chosen', () => {
  const lines = [line(1, 'a'), line(2, 'b', { exists: true }), line(3, 'c', { faults: [{ location: 'env', code: 'x', message: 'y' }] }), { line: 4, text: '@reboot x' }];
  expect(plan(lines).map((row) => row.taken)).toEqual([true, false, false, false]);
  expect(plan(lines, { 1: { take: false }, 2: { take: true, name: 'z' }, 3: { take: true } }).map((row) => [row.taken, row.job?.name])).toEqual([[false, 'a'], [true, 'b'], [false, 'c'], [false, undefined]]);
});

it('checks names of the lines that are taken', () => {
  const lines = [line(1, 'a'), line(2, 'b'), line(3, 'c')];
  expect(plan(lines, { 1: { name: 'b' }, 3: { name: 'Not one' } }).map((row) => row.nameFault)).toEqual(['nameTwice', 'nameTwice', 'nameHelp']);
  expect(plan(lines, { 1: { name: 'b' }, 2: { take: false } }).map((row) => row.nameFault)).toEqual([undefined, undefined, undefined]);
});

it('removes a redirection if asked', () => {
  const noted: Partial<CrontabLine> = { job: { name: 'a', command: 'make >> x.log 2>&1', cronExpr: '@daily' }, notices: [{ level: 'note', code: 'redirected', text: '', value: '>> x.log 2>&1' }] };
  const [kept] = plan([line(1, 'a', noted)]);
  expect([kept?.redirect, kept?.job?.command]).toEqual(['>> x.log 2>&1', 'make >> x.log 2>&1']);
  expect(plan([line(1, 'a', noted)], { 1: { unredirect: true } })[0]?.job?.command).toBe('make');
  expect(plan([line(1, 'a')], { 1: { unredirect: true } })[0]?.job?.command).toBe('make');
});

it('notifies a channel, except where cron would send no mail', () => {
  const lines = [line(1, 'a'), line(2, 'b', { mailTo: 'ops@example.com, dev@example.com' }), line(3, 'c', { mailTo: '' })];
  expect(plan(lines, {}, 'ops').map((row) => row.job?.notify?.to)).toEqual([['ops'], ['ops'], undefined]);
  const mails = lines.map((one, i) => (i === 1 && one.job ? { ...one, job: { ...one.job, notify: { on: ['output' as const], to: ['mail-ops'] } } } : one));
  expect(plan(mails, {}, asMailTo).map((row) => row.job?.notify?.to)).toEqual([undefined, ['mail-ops'], undefined]);
  expect(plan(mails, {}, '').map((row) => row.job?.notify?.to)).toEqual([undefined, undefined, undefined]);
  const offered = [{ name: 'mail-ops', to: ['ops@example.com'] }, { name: 'other', to: ['b@example.com'] }];
  expect(channelsFor(plan(mails, {}, asMailTo), offered)).toEqual(offered.slice(0, 1));
  expect(channelsFor(plan(mails, { 2: { take: false } }, asMailTo), offered)).toEqual([]);
  expect(addressesOf(lines)).toEqual(['ops@example.com', 'dev@example.com']);
});
