// Writes the typeface of the console, src/theme/inter.woff2: Inter with the characters of Western European languages and
// the weights that the console uses. A test compares it.

import { readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';
import subsetFont from 'subset-font';

const source = createRequire(import.meta.url).resolve('@fontsource-variable/inter/files/inter-latin-wght-normal.woff2');
export const target = fileURLToPath(new URL('../src/theme/inter.woff2', import.meta.url));

// As in the unicode-range of theme.css.
const ranges = [[0x20, 0x7e], [0xa0, 0xff], [0x131, 0x131], [0x152, 0x153], [0x2010, 0x2027], [0x2030, 0x2033], [0x2039, 0x203a], [0x20ac, 0x20ac], [0x2122, 0x2122], [0x2191, 0x2191], [0x2193, 0x2193], [0x2212, 0x2212], [0x2215, 0x2215]];

export function makeFont() {
  const characters = ranges.flatMap(([from, to]) => Array.from({ length: to - from + 1 }, (_, i) => String.fromCodePoint(from + i))).join('');
  return subsetFont(readFileSync(source), characters, { targetFormat: 'woff2', variationAxes: { wght: { min: 400, max: 700 } } });
}

if (process.argv[1] === fileURLToPath(import.meta.url)) writeFileSync(target, await makeFont());
