// What the server finds wrong with a request it says by a code. Each that its sources name has its Chinese, however it is written there.

import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { zhServer } from './zh/server.ts';

const internal = join(process.cwd(), '../internal');
const packages = ['auth', 'authstore', 'common', 'httpapi', 'jobmgr', 'secretstore'];

function sources(folder: string): string[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    if (entry.isDirectory()) return entry.name === 'schedule' ? [] : sources(join(folder, entry.name));
    return entry.name.endsWith('.go') && !entry.name.endsWith('_test.go') ? [readFileSync(join(folder, entry.name), 'utf8')] : [];
  });
}

const ways = [
  /Fault\{[^{}]*?\bCode:\s*"(\w+)"/g, // as it is made
  /\.Code, \w+\.Message(?:, \w+\.Hint)? = "(\w+)"/g, // or set later
  /\.add\([^"\n]*(?:"[^"]*"[^",\n]*)?, "(\w+)", /g, // or gathered by a checker
];

it('every code of a fault is translated', () => {
  const found = new Set(packages.flatMap((name) => sources(join(internal, name))).flatMap((code) => ways.flatMap((way) => [...code.matchAll(way)].map(([, name]) => name ?? ''))));
  expect([...found]).toEqual(expect.arrayContaining(['unknown_channel', 'disabled_channel', 'unknown_worker', 'too_long', 'pattern']));
  expect([...found].filter((code) => !(code in zhServer.faults)).sort()).toEqual([]);
});
