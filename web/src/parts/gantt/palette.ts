import { useLayoutEffect, useState } from 'react';
import { useScheme } from '../../lib/useScheme.ts';

const variables = {
  text: '--mantine-color-text', dim: '--mantine-color-dimmed', surface: '--c-surface', raised: '--c-raised', border: '--c-border', accent: '--mantine-color-anchor',
  ok: '--c-ok-fill', bad: '--c-bad-fill', warn: '--c-warn-fill', live: '--c-live-fill', idle: '--c-idle-fill', badGround: '--c-bad-bg', warnGround: '--c-warn-bg', font: '--mantine-font-family',
} as const;

export type Palette = Record<keyof typeof variables, string>;

function read(): Palette {
  const style = getComputedStyle(document.documentElement);
  return Object.fromEntries(Object.entries(variables).map(([name, variable]) => [name, style.getPropertyValue(variable).trim()])) as Palette;
}

/** The theme's colours for canvases, which style sheets do not reach. */
export function usePalette(): Palette {
  const scheme = useScheme();
  const [palette, setPalette] = useState(read);
  useLayoutEffect(() => setPalette(read()), [scheme]);
  return palette;
}
