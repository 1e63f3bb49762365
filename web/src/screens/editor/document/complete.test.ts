import { expect, it } from 'vitest';
import { offersAt } from './complete.ts';

const known = (path: readonly (string | number)[]) => (path.join('.') === 'notify.to' ? ['ops', 'mail'] : path.join('.') === 'steps.after' ? ['extract'] : path[0] === 'env' ? ['secret:db'] : []);
const at = (text: string) => offersAt(text.replace('¦', ''), text.indexOf('¦'), known)?.offers.map((offer) => offer.label);

it.each([
  ['name: a\nover¦', 'overlap'], ['¦', 'name'], ['retry:\n  ¦', 'backoff'], ['overlap: ¦', 'queue'], ['retry:\n  elsewhere: f¦', 'false'], ['notify:\n  on: [failed, ¦', 'lost'], ['notify:\n  to:\n    - ¦', 'ops'],
  ['params:\n  DAY:\n    ¦', 'pattern'], ['env:\n  A: ¦', 'secret:db'], ['catchUp:\n  policy: ¦\npriority: 1', 'latest'],
])('%j offers %s', (text, label) => expect(at(text)).toContain(label));

it('offers neither existing keys nor anything within a block scalar', () => {
  expect(at('name: a\nretry:\n  max: 1\n  ¦')).not.toContain('max');
  expect(at('name: a\n¦\ntitle: b\n')).not.toContain('title');
  expect(at('command: |\n  ma¦')).toBeUndefined();
  expect(at('env:\n  A¦')).toBeUndefined();
});

it.each([
  ['steps:\n  - ¦', 'name'], ['steps:\n  - name: a\n    ¦', 'after'], ['steps:\n  - name: a\n    rule: ¦', 'all_done'], ['steps:\n  - name: b\n    after: [¦', 'extract'], ['steps:\n  - name: b\n    after:\n      - ¦', 'extract'],
  ['steps:\n  - name: a\n    forEach:\n      ¦', 'list'], ['steps:\n  - name: a\n    retry:\n      ma¦', 'maxBackoff'], ['steps:\n  - name: a\n    after:\n      - step: b\n        on: ¦', 'failure'], ['steps:\n- name: a\n  ¦', 'command'],
])('in a step, %j offers %s', (text, label) => expect(at(text)).toContain(label));

it('offers in a step what this step does not have yet', () => {
  const offered = at('steps:\n  - name: a\n    command: x\n  - name: b\n    ¦\n    when: y\n  - job: z\n');
  expect(offered).toEqual(expect.arrayContaining(['command', 'job']));
  expect(offered).not.toContain('name');
  expect(offered).not.toContain('when');
});
