import { expect, it } from 'vitest';
import { parse } from 'yaml';
import type { Definition } from '../api/types.ts';
import { toYaml } from './yaml.ts';

const nightly: Definition = {
  retry: { backoff: '5s', max: 3, exitCodes: [75, 111] }, command: 'set -e\nmake report\n', cronExpr: '30 2 * * MON-FRI', env: { FLAG: 'yes', PORT: '8080', AT: '12:30', EMPTY: '' },
  name: 'nightly', title: '每晚报表', labels: { team: 'data' }, params: { DAY: { pattern: '[a-z]+', default: 'today' } }, notify: { to: ['ops'], on: ['failed'] },
};

it('writes a definition in the documented order, with commands unchanged', () => {
  expect(toYaml(nightly)).toBe(`name: nightly
title: 每晚报表
labels:
  team: data
cronExpr: 30 2 * * MON-FRI
command: |
  set -e
  make report
env:
  FLAG: "yes"
  PORT: "8080"
  AT: "12:30"
  EMPTY: ""
params:
  DAY:
    default: today
    pattern: "[a-z]+"
retry:
  max: 3
  backoff: 5s
  exitCodes: [75, 111]
notify:
  on: [failed]
  to: [ops]
`);
});

it.each([
  nightly,
  { name: 'a', args: ['/bin/echo', '', 'a b', 'two\nlines', '# no comment', '- x', '*'] },
  { name: 'a', command: ' leading\n\n  and trailing  \n\n\n', stdin: '\ttab\r\nreturn', description: '"quoted": {x} é \u0007' },
  { name: 'a', cronExpr: '*/5 * * * *', command: 'x'.repeat(300), group: 'null', timeout: '90' },
] satisfies Definition[])('what is read is what was written: %j', (definition) => expect(parse(toYaml(definition))).toEqual(definition));
