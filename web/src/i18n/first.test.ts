// Texts that may be shown on the jobs page, or in the frame of every page, must be among those that are loaded first.
// The others are loaded with the first other page; until then the key would be shown instead of the text.

import { readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { expect, it } from 'vitest';
import { first } from './en/first.ts';
import { rest } from './en/rest.ts';

const src = join(process.cwd(), 'src');

// Routes load their pages with all texts; and these dialogs are opened after all of them are loaded.
const bringIt = /^app\/routes\/(?!root)|^screens\/editor\/ImportDialog|^parts\/ManySettings\.tsx/;

function reached(file: string, into = new Map<string, string>()): Map<string, string> {
  if (into.has(file) || bringIt.test(relative(src, file))) return into;
  const code = readFileSync(file, 'utf8');
  into.set(file, code);
  for (const [, path] of code.matchAll(/(?:from|import\()\s*'(\.[^']+\.tsx?)'/g)) reached(join(dirname(file), path ?? ''), into);
  return into;
}

it('the first page uses only texts that are loaded first', () => {
  const files = new Map(['main.tsx', 'app/routes/root.tsx', 'screens/jobs/JobsPage.tsx'].flatMap((entry) => [...reached(join(src, entry))]));
  expect(files.size).toBeGreaterThan(50);
  const later = [...files].flatMap(([file, code]) =>
    [...code.matchAll(/\bt\(\s*[`'](\w+)\.[^`']*[`']/g)].filter(([, area]) => area !== undefined && area in rest && !(area in first)).map(([call]) => `${relative(src, file)}: ${call}`));
  expect(later).toEqual([]);
});
