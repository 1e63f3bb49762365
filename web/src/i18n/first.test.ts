// What may be shown on the page of all jobs, or around every page, has its words among those that are loaded first: the others
// come with the first other page, and until then a key would stand in the place of its text.

import { readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { expect, it } from 'vitest';
import { first } from './en/first.ts';
import { rest } from './en/rest.ts';

const src = join(process.cwd(), 'src');

// Routes name their pages, which bring their words; and this dialog is opened with all of them.
const bringIt = /^app\/routes\/(?!root)|^screens\/editor\/ImportDialog/;

function reached(file: string, into = new Map<string, string>()): Map<string, string> {
  if (into.has(file) || bringIt.test(relative(src, file))) return into;
  const code = readFileSync(file, 'utf8');
  into.set(file, code);
  for (const [, path] of code.matchAll(/(?:from|import\()\s*'(\.[^']+\.tsx?)'/g)) reached(join(dirname(file), path ?? ''), into);
  return into;
}

it('the first page says nothing whose words come later', () => {
  const files = new Map(['main.tsx', 'app/routes/root.tsx', 'screens/jobs/JobsPage.tsx'].flatMap((entry) => [...reached(join(src, entry))]));
  expect(files.size).toBeGreaterThan(50);
  const later = [...files].flatMap(([file, code]) =>
    [...code.matchAll(/\bt\(\s*[`'](\w+)\.[^`']*[`']/g)].filter(([, area]) => area !== undefined && area in rest && !(area in first)).map(([call]) => `${relative(src, file)}: ${call}`));
  expect(later).toEqual([]);
});
