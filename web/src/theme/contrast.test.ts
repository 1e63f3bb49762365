import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';

const sheet = readFileSync(new URL('theme.css', import.meta.url), 'utf8');
const tones = ['ok', 'bad', 'warn', 'live', 'idle'] as const;

/** Returns the colours that a theme defines. */
function colours(scheme: string): Map<string, string> {
  const block = sheet.split(`:root[data-mantine-color-scheme='${scheme}'] {`)[1]?.split('\n}')[0] ?? '';
  return new Map([...block.matchAll(/--([\w-]+): (#[0-9a-f]{6});/g)].map(([, name, value]) => [name ?? '', value ?? '']));
}

function luminance(colour: string): number {
  const [r = 0, g = 0, b = 0] = [1, 3, 5].map((i) => parseInt(colour.slice(i, i + 2), 16) / 255).map((v) => (v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4));
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}

function contrast(a: string, b: string): number {
  const [dark = 0, bright = 0] = [luminance(a), luminance(b)].sort((x, y) => x - y);
  return (bright + 0.05) / (dark + 0.05);
}

describe.each(['light', 'dark'])('the %s theme', (scheme) => {
  const all = colours(scheme);
  const at = (name: string) => all.get(name) ?? expect.fail(`${name} is not defined`);
  const surfaces = ['c-surface', 'c-raised', 'mantine-color-body'];

  it.each(tones)('has readable text for %s: 4.5:1', (tone) => {
    for (const ground of [...surfaces, `c-${tone}-bg`]) expect(contrast(at(`c-${tone}`), at(ground)), ground).toBeGreaterThanOrEqual(4.5);
  });
  it.each(tones)('has visible areas for %s: 3:1', (tone) => {
    for (const ground of surfaces) expect(contrast(at(`c-${tone}-fill`), at(ground)), ground).toBeGreaterThanOrEqual(3);
  });
  it('has readable text', () => {
    for (const name of ['mantine-color-text', 'mantine-color-dimmed', 'mantine-color-anchor', 'mantine-color-error']) {
      for (const ground of surfaces) expect(contrast(at(name), at(ground)), `${name} on ${ground}`).toBeGreaterThanOrEqual(4.5);
    }
  });
});
