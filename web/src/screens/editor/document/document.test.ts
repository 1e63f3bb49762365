import { describe, expect, it } from 'vitest';
import { renameAt, setAt } from './change.ts';
import { isRenamed, namesAt, parse, rangeOf } from './parse.ts';
import { same } from '../../../lib/same.ts';
import { pathOf, valueAt } from './paths.ts';
import { suggest } from './suggest.ts';

const text = `# The nightly report.
name:   nightly   # never changes
cronExpr: "30 2 * * *"

# Comments stay.
command: |
  set -e
  make report   # not a comment of YAML
env:
  B: two     # second
  A: one
retry:
  max: 3
notify: {on: [failed], to: [ops]}   # in braces
timeout: 90
`;

const lines = (before: string, after: string) => {
  const [a, b] = [before.split('\n'), after.split('\n')];
  return { gone: a.filter((line) => !b.includes(line)), come: b.filter((line) => !a.includes(line)) };
};

describe('a change of the form', () => {
  it.each([
    [['name'], 'weekly', ['name:   nightly   # never changes'], ['name:   weekly   # never changes']],
    [['cronExpr'], '*/5 * * * *', ['cronExpr: "30 2 * * *"'], ['cronExpr: "*/5 * * * *"']],
    [['title'], '每晚', [], ['title: 每晚']],
    [['env', 'B'], 'three', ['  B: two     # second'], ['  B: three     # second']],
    [['env', 'C'], '8080', [], ['  C: "8080"']],
    [['env', 'A'], undefined, ['  A: one'], []],
    [['retry', 'max'], undefined, ['retry:', '  max: 3'], []],
    [['retry', 'backoff'], '5s', [], ['  backoff: 5s']],
    [['catchUp', 'policy'], 'all', [], ['catchUp:', '  policy: all']],
    [['command'], 'true', ['command: |', '  set -e', '  make report   # not a comment of YAML'], ['command: "true"']],
    [['command'], 'a\nb', ['command: |', '  set -e', '  make report   # not a comment of YAML'], ['command: |-', '  a', '  b']],
    [['timeout'], '2m', ['timeout: 90'], ['timeout: 2m']],
    [['timeout'], undefined, ['timeout: 90'], []],
    [['notify', 'to'], ['ops', 'mail'], ['notify: {on: [failed], to: [ops]}   # in braces'], ['notify: {on: [failed], to: [ops, mail]} # in braces']],
  ] as [string[], unknown, string[], string[]][])('of %j to %j changes only its lines', (path, value, gone, come) => {
    const after = setAt(text, path, value);
    if (path[0] !== 'notify') expect(lines(text, after)).toEqual({ gone, come });
    else expect(after).toContain(come[0]);
    expect(valueAt(parse(after).definition, path)).toEqual(value);
    expect(parse(after).faults).toEqual([]);
  });

  it('inserts a field in order', () => {
    expect(setAt('name: a\ncommand: x\n', ['timezone'], 'UTC')).toBe('name: a\ntimezone: UTC\ncommand: x\n');
    expect(setAt('command: x\n', ['name'], 'a')).toBe('name: a\ncommand: x\n');
  });
  it('starts with an empty text', () => {
    expect(setAt('', ['name'], 'a')).toBe('name: a\n');
    expect(setAt('# only a comment\n', ['name'], 'a')).toBe('# only a comment\nname: a\n');
    expect(setAt('{}\n', ['name'], 'a')).toContain('name: a');
  });
  it('and its reversal restore the text', () => {
    for (const [path, value, back] of [[['title'], 'x', undefined], [['env', 'A'], 'x', 'one'], [['placement', 'selector'], 'zone=a', undefined]] as const) {
      expect(setAt(setAt(text, path, value), path, back)).toBe(text);
    }
  });
  it('renames in place', () => expect(lines(text, renameAt(text, ['env', 'B'], 'FIRST'))).toEqual({ gone: ['  B: two     # second'], come: ['  FIRST: two     # second'] }));
  it.each([
    'a', '8080', 'yes', '', ' x ', '# x', 'a: b', '- a', 'a\n', 'a\n\nb\n\n', '\n', '  a\nb', '*a', '&a', '"', "it's", 'tab\tend', '\u0007', '{}', '[', 'x'.repeat(500), 'null', '~', '!tag', '---', '...\n',
  ])('keeps the text %j', (value) => {
    for (const path of [['command'], ['env', 'B'], ['env', 'NEW'], ['stdin']]) {
      const after = setAt(text, path, value);
      expect(valueAt(parse(after).definition, path)).toBe(value);
      expect(after).toContain('# Comments stay.');
    }
  });
});

describe('a YAML text', () => {
  it('has numbers and words in the types of their fields', () => {
    const { definition, faults } = parse('name: 7\ntimeout: 90\nenv: {PORT: 8080, V: 1.10, ON: true, NONE: }\npriority: "5"\npaused: yes\nargs: x\nretry: 3\n');
    expect(definition).toMatchObject({ name: '7', timeout: '90', env: { PORT: '8080', V: '1.10', ON: 'true', NONE: '' } });
    expect(faults.map(({ kind, location, line }) => [kind, location, line])).toEqual([['whole', 'priority', 4], ['flag', 'paused', 5], ['list', 'args', 6], ['names', 'retry', 7]]);
  });
  it('reports an unknown name with a suggestion at its line', () => {
    const { faults } = parse('name: a\ncron: "* * * * *"\ncatchup:\n  policy: all\nretry:\n  maxbackof: 1m\n');
    expect(faults.map(({ kind, location, line, suggestion }) => [kind, location, line, suggestion])).toEqual([
      ['unknown', 'cron', 2, 'cronExpr'], ['unknown', 'catchup', 3, 'catchUp'], ['unknown', 'retry.maxbackof', 6, 'maxBackoff'],
    ]);
  });
  it.each([['a: b: c\n', 1], ['name: a\nname: b\n', 2], ['name: a\n\tcommand: b\n', 2], ['name: a\nenv:\n  A: "x\n', 3], ['- a\n', 1], ['name: a\n---\nname: b\n', 2]])('%j is not a job, and the fault has a line', (bad, line) => {
    const { definition, faults } = parse(bad);
    expect(definition).toBeUndefined();
    expect(faults[0]?.line).toBe(line);
  });
  it('has a position for every part', () => {
    const at = (location: string) => {
      const parsed = parse(text);
      const { from, to } = rangeOf(parsed, pathOf(location, parsed.definition));
      return text.slice(from, to);
    };
    expect(at('cronExpr')).toBe('"30 2 * * *"');
    expect(at('env.B')).toBe('two');
    expect(at('env')).toBe('env');
    expect(at('notify.to[0]')).toBe('ops');
    expect(at('retry.backoff')).toBe('retry');
    expect(at('title')).toBe('# The nightly report.');
  });
  it('cannot be infinite', () => {
    const { faults } = parse('name: &a x\ntitle: *a\nenv: &b {A: *a}\nlabels: *b\n');
    expect(faults.map((fault) => fault.kind)).toEqual(['reference']);
  });
  it('does not accept inherited property names as fields', () => {
    expect(parse('name: a\nconstructor: 3\nretry: {toString: 1}\n').faults.map(({ kind, location }) => [kind, location])).toEqual([['unknown', 'constructor'], ['unknown', 'retry.toString']]);
    const named = 'name: a\nenv:\n  __proto__: x\n  A: "1"\n';
    expect(parse(setAt(named, ['env'], { A: '1', B: '2' })).definition).toEqual({ name: 'a', env: { A: '1', B: '2' } });
    expect(setAt('name: a\n', ['env', '__proto__'], 'x')).toBe('name: a\nenv:\n  __proto__: x\n');
  });
  it.each([
    ['command: [ls, *.log]', [['text', 'command'], ['reference', 'command']]],
    ['command:\n  - ls\n  - *.txt', [['text', 'command'], ['reference', 'command']]],
    ['env: [*x]', [['names', 'env'], ['reference', 'env']]],
    ['notify:\n  - *ops', [['names', 'notify'], ['reference', 'notify']]],
    ['x: &a [*a]', [['unknown', 'x'], ['reference', 'x']]],
    ['title: &a [*a]', [['text', 'title'], ['reference', 'title']]],
    ['args: *none', [['reference', 'args']]],
    ['args: {a: *none}', [['list', 'args'], ['reference', 'args']]],
    ['env: {*none : a}', [['reference', 'env.*none']]],
    [`x: [&a 1${', *a'.repeat(20)}]`, [['unknown', 'x']]],
  ])('with an alias of nothing, or of itself, is reported: %j', (bad, expected) => {
    const { definition, faults } = parse(`name: a\n${bad}\n`);
    expect(faults.map(({ kind, location }) => [kind, location])).toEqual(expected);
    expect(JSON.stringify(definition)).toContain('"name":"a"');
    expect(parse(setAt(`name: a\n${bad}\n`, ['title'], 'b')).definition).toMatchObject({ name: 'a', title: 'b' });
  });
  it('that is nested too deeply is not a job', () => expect(parse(`name: a\ntitle: ${'['.repeat(20_000)}`).definition).toBeUndefined());
  it.each([[undefined, undefined], ['y', 'y']])('keeps the value of an alias whose anchor is removed', (value, title) => {
    const after = parse(setAt('name: a\ntitle: &t x\nenv:\n  A: *t\n  B: *t\n', ['title'], value));
    expect(after.definition).toEqual({ name: 'a', ...(title && { title }), env: { A: 'x', B: 'x' } });
    expect(after.faults).toEqual([]);
  });
});

it('a location is parsed to its path', () => {
  expect(pathOf('labels.app.io/name', { labels: { 'app.io/name': 'x' } })).toEqual(['labels', 'app.io/name']);
  expect(pathOf('args[2]', {})).toEqual(['args', 2]);
  expect(pathOf('params.DAY.pattern', { params: { DAY: {} } })).toEqual(['params', 'DAY', 'pattern']);
});

it('compares values', () => {
  expect(same({ a: 1, b: undefined }, { a: 1 })).toBe(true);
  expect(same({ a: [1, 2] }, { a: [2, 1] })).toBe(false);
});

it.each([['commnad', 'command'], ['work_dir', 'workDir'], ['schedule', 'cronExpr'], ['zzzzzz', undefined]])('%s: suggests %s', (word, meant) => {
  expect(suggest(word, ['command', 'workDir', 'cronExpr'])).toBe(meant);
});

it('reports a text with another job’s name', () => {
  expect(isRenamed(parse('name: a\n'), 'a')).toBe(false);
  expect(isRenamed(parse('name: b\n'), 'a')).toBe(true);
  expect(isRenamed(parse('title: a\n'), 'a')).toBe(true);
  expect(isRenamed(parse('name: : b\n'), 'a')).toBe(false);
});

it('keeps the names in the order of the text while one of them is typed', () => {
  let typed = setAt('name: a\nlabels:\n  team: data\n', ['labels', '2'], '');
  for (const [before, after] of [['2', '20'], ['20', '202'], ['202', '2024']] as const) {
    expect(namesAt(parse(typed), ['labels'])).toEqual(['team', before]);
    typed = renameAt(typed, ['labels', before], after);
  }
  expect(parse(typed).definition).toEqual({ name: 'a', labels: { team: 'data', 2024: '' } });
  expect(namesAt(parse(typed), ['labels'])).toEqual(['team', '2024']);
  expect(namesAt(parse('params: {9: {default: x}, A}\n'), ['params'])).toEqual(['9', 'A']);
  expect(namesAt(parse('labels: none\n'), ['labels'])).toEqual([]);
  expect(namesAt(parse('name: a\n'), ['labels'])).toEqual([]);
});

it('settings of a type are read as written: no name in them is unknown', () => {
  const { definition, faults } = parse('name: a\ntype: http\nwith:\n  url: https://a.example\n  headers: {X-A: "1"}\n  expect: {status: [2xx, 404]}\n  redirects: 1\n');
  expect(faults).toEqual([]);
  expect(definition?.with).toEqual({ url: 'https://a.example', headers: { 'X-A': '1' }, expect: { status: ['2xx', 404] }, redirects: 1 });
  expect(parse('name: a\ntype: http\nwith: [1]\n').faults.map(({ kind }) => kind)).toEqual(['names']);
});

it.each([['runOn: 3', { runOn: 3 }], ['runOn: all', { runOn: 'all' }], ['runOn: {workers: 2}', { runOn: { workers: 2 } }], ['daemon: {count: 2}', { daemon: { count: 2 } }], ['daemon: {count: all}', { daemon: { count: 'all' } }]])(
  '%s keeps its number', (text, want) => expect(parse(text).definition).toEqual(want),
);
