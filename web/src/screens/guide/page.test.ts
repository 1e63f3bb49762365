import { expect, it } from 'vitest';
import { isPicture, parse, unescaped } from './page.ts';

const page = parse('console', '# The `console`\n\n![Jobs](console/jobs.png)\n\n## Keys & marks\n\n| a | b |\n|---|---|\n| ![x](x.png) | ![y](y.png) |\n\n### Deep\n\n## Keys & marks\n\n```sh\n## not a heading\n```\n\nA ![picture](p.png) in text.\n');

it('finds title and sections, with names as in links', () => {
  expect(page.title).toBe('The console');
  expect(page.sections).toEqual([{ slug: 'keys--marks', title: 'Keys & marks' }, { slug: 'keys--marks-1', title: 'Keys & marks' }]);
});

it('leaves out blocks of pictures only', () => expect(page.tokens.filter(isPicture).map(({ type }) => type)).toEqual(['paragraph', 'table']));

it('replaces entities once', () => expect(unescaped('a&nbsp;&lt;b&gt; &amp;lt;')).toBe('a\u00a0<b> &lt;'));
