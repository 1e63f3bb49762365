// Every code that the server's sources contain has a Chinese text, and a text uses only the data that the server sends
// with its code.

import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { zh } from './zh/index.ts';
import { zhServer } from './zh/server.ts';

const internal = join(process.cwd(), '../internal');

/** Joins lines that gofmt may break, so that patterns need not care. */
const joined = (code: string) => code.replaceAll(/([({,])[ \t]*\n\s*/g, (_, end: string) => (end === ',' ? ', ' : end)).replaceAll(/[ \t]+/g, ' ');

function sources(folder: string): string[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    if (entry.isDirectory()) return ['apitest', 'conformance', 'oidctest'].includes(entry.name) ? [] : sources(join(folder, entry.name));
    return entry.name.endsWith('.go') && !entry.name.endsWith('_test.go') ? [joined(readFileSync(join(folder, entry.name), 'utf8'))] : [];
  });
}

const found = (packages: readonly string[], ways: readonly RegExp[]) =>
  new Set(packages.flatMap((name) => sources(join(internal, name))).flatMap((code) => ways.flatMap((way) => [...code.matchAll(way)].map((match) => match[1] ?? ''))));

const missing = (codes: Iterable<string>, texts: object) => [...codes].filter((code) => !(code in texts)).sort();

const faults = () => found(['access', 'common', 'executor/httprun', 'executor/typeschema', 'flow', 'httpapi', 'jobmgr', 'secrets'], [
  /Fault\{[^{}]*?\bCode:\s*"(\w+)"/g, // in a literal
  /\.Code, \w+\.Message(?:, \w+\.Hint)? = "(\w+)"/g, // assigned later
  /\bBadParameter\([^"\n]*(?:"[^"]*"[^",\n]*)?, "(\w+)", /g, // of a parameter
  /\.[Aa]dd\([^"\n]*(?:"[^"]*"[^",\n]*)?, "(\w+)", /g, // added by a checker
  /\bCode[A-Z]\w* += "((?:cron|zone|dst)_\w+)"/g, // of a schedule
]);

it('every code of a fault is translated', () => {
  expect([...faults()]).toEqual(expect.arrayContaining(['unknown_channel', 'disabled_channel', 'unknown_worker', 'too_long', 'pattern', 'cron_field_range', 'zone_unknown', 'cycle', 'expression']));
  expect(missing(faults(), zhServer.faults)).toEqual([]);
});

it('every problem is translated, by its code or its reason', () => {
  const codes = found(['common'], [/\bCode[A-Z]\w+ +Code = "(\w+)"/g]);
  expect([...codes]).toEqual(expect.arrayContaining(['invalid', 'too_many_requests']));
  expect(missing(codes, zhServer.codes)).toEqual([]);
  const reasons = found(['.'], [/\bWithReason\("(\w+)"/g, /Error\{Code: common\.Code\w+, Reason: "(\w+)"/g, /\.Reason = "(\w+)"/g]);
  expect([...reasons]).toEqual(expect.arrayContaining(['last_admin', 'role', 'login_attempts']));
  expect(missing(reasons, zhServer.problems)).toEqual([]);
});

it('every remark on a schedule is translated', () => {
  const notes = found(['common/schedule'], [/\bNote[A-Z]\w+ += "(\w+)"/g]);
  expect(notes.size).toBeGreaterThan(10);
  expect(missing(notes, zhServer.notes)).toEqual([]);
});

it('every remark on a line of a crontab is translated', () => {
  const remarks = found(['jobmgr/crontab'], [/\bp\.\w+\((?:\w+|"\w+"), "(\w+)"/g, /\brefusal\{\w+, "(\w+)"/g, /\{\{Note, "(\w+)"/g, /\bcode: "(\w+)"/g]);
  expect([...remarks]).toEqual(expect.arrayContaining(['field', 'ignored', 'long_step', 'random', 'reversed', 'sunday_last', 'zone']));
  expect(missing(remarks, zhServer.crontab)).toEqual([]);
});

it('every reason of a fire or a run is translated', () => {
  const reasons = found(['common', 'executor', 'dispatch', 'jobmgr', 'scheduler', 'joblock', 'secrets'], [/\bReason[A-Z]\w* += "(\w+)"/g, /Reason\{Code: "(\w+)"/g, /\b(?:[fF]ailed|refusal)\("(\w+)"/g, /\b(?:failed|result)\(Exit\w+, "(\w+)"/g]);
  expect([...reasons]).toEqual(expect.arrayContaining(['overlap', 'exit_code', 'worker_died', 'killed_before_start']));
  expect(missing(reasons, zhServer.reasons)).toEqual([]);
});

it('every degraded mode is translated', () => {
  const conditions = found(['common'], [/\bCondition[A-Z]\w+ += "(\w+)"/g]);
  expect(conditions.size).toBeGreaterThan(15);
  expect(missing(conditions, zh.conditions)).toEqual([]);
});

it('every check of the cluster has a name and a Chinese remedy', () => {
  const checks = found(['health'], [/\b(?:OK|Fault)\((?:(?:health\.)?Finding\w+, )?"(\w+)"/g, /\bcheck: +"(\w+)"/g]);
  expect(checks.size).toBeGreaterThan(15);
  expect(missing(checks, zh.health.checks)).toEqual([]);
  expect(missing(checks, zhServer.remedies)).toEqual([]);
});

const paired: readonly { area: string; plain: object; filled: Record<string, Record<string, string>> }[] = [
  { area: 'faults', plain: zhServer.faults, filled: zhServer.faultsWith },
  { area: 'notes', plain: zhServer.notes, filled: zhServer.notesWith },
];

it.each(paired)('of $area, a text for some data uses no other data', ({ plain, filled }) => {
  for (const [code, texts] of Object.entries(filled)) {
    expect(code in plain).toBe(true);
    for (const [names, text] of Object.entries(texts)) expect(names.split('_')).toEqual(expect.arrayContaining([...text.matchAll(/{{(\w+)}}/g)].map((match) => match[1])));
  }
});
