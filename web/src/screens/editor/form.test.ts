import { describe, expect, it } from 'vitest';
import type { Definition } from '../../api/types.ts';
import { differences, emptyForm, fieldOf, formOf, hasRepeatedName, sortFaults, stillTrue, toDefinition } from './form.ts';

const full: Definition = {
  name: 'nightly', title: '每晚', group: 'reports', description: 'a\nb', cronExpr: '30 2 * * *', timezone: 'Asia/Shanghai', dst: { gap: 'skip', overlap: 'both' },
  command: 'make report\n', shell: '/bin/bash', workDir: '/srv', stdin: 'x\n', env: { K: 'v', L: '' }, timeout: '1h', killGrace: '5s', output: { max: '1MiB' },
};

describe('a definition', () => {
  it('survives the form unchanged', () => expect(toDefinition(formOf(full), full)).toEqual(full));
  it('keeps what the form does not show', () => {
    const more = { ...full, labels: { team: 'data' }, successExitCodes: [0, 3], user: 'report', later: { field: 1 } } as Definition;
    expect(toDefinition(formOf(more), more)).toEqual(more);
  });
  it('leaves out what is empty', () => expect(toDefinition({ ...emptyForm, name: 'a', command: 'true' }, undefined)).toEqual({ name: 'a', command: 'true' }));
  it('drops what was emptied', () => {
    const got = toDefinition({ ...formOf(full), title: '', dstGap: '', dstOverlap: '', env: [], timeout: ' ', outputMax: '' }, full);
    expect(Object.keys(got).sort()).toEqual(['command', 'cronExpr', 'description', 'group', 'killGrace', 'name', 'shell', 'stdin', 'timezone', 'workDir']);
  });
  it('has either a command or arguments', () => {
    const got = toDefinition({ ...formOf(full), kind: 'args', args: '/bin/echo\n\nb\n' }, full);
    expect(got.args).toEqual(['/bin/echo', '', 'b']);
    expect(got).not.toHaveProperty('command');
    expect(got).not.toHaveProperty('shell');
    expect(formOf(got).kind).toBe('args');
  });
});

it.each([
  ['cronExpr', 'cronExpr'], ['env.HOME', 'env'], ['env', 'env'], ['args[2]', 'args'], ['output.max', 'outputMax'], ['dst.gap', 'dstGap'],
  ['labels.x', undefined], ['', undefined], ['kind', undefined],
])('a fault at %s belongs to %s', (location, field) => expect(fieldOf(location, emptyForm)).toBe(field));

it('shows a missing command where the arguments are written', () => expect(fieldOf('command', { ...emptyForm, kind: 'args' })).toBe('args'));

it('sorts faults', () => {
  const faults = ['name', 'name', 'labels'].map((location) => ({ location, message: 'm' }));
  const { at, rest } = sortFaults(faults, emptyForm);
  expect(at.name).toHaveLength(2);
  expect(rest.map((f) => f.location)).toEqual(['labels']);
});

it('forgets the faults of a field that was changed since', () => {
  const judged = { definition: { name: 'A', timeout: 'x', env: { 1: '' } } as Definition, faults: ['name', 'timeout', 'env.1'].map((location) => ({ location, message: 'm' })) };
  expect(stillTrue(judged, { name: 'a', timeout: 'x', env: { 2: '' } }).map((f) => f.location)).toEqual(['timeout']);
});

it('tells two definitions apart', () => {
  expect(differences(full, full)).toEqual([]);
  expect(differences(full, { ...full, title: 'x', dst: undefined })).toEqual([
    { field: 'dst', theirs: '{"gap":"skip","overlap":"both"}', mine: '' },
    { field: 'title', theirs: '每晚', mine: 'x' },
  ]);
});

it('notices a variable that is there twice', () => {
  expect(hasRepeatedName([{ name: 'A', value: '' }, { name: 'B', value: '' }])).toBe(false);
  expect(hasRepeatedName([{ name: 'A', value: '1' }, { name: 'A', value: '2' }])).toBe(true);
  expect(hasRepeatedName([{ name: '', value: '1' }, { name: '', value: '2' }])).toBe(false);
});
