import { describe, expect, it } from 'vitest';
import type { Definition } from '../../api/types.ts';
import { differences, emptyForm, fieldOf, formOf, hasRepeatedName, ownFaults, sortFaults, stillTrue, toDefinition, type Form } from './form.ts';

const full: Definition = {
  name: 'nightly', title: '每晚', group: 'reports', description: 'a\nb', cronExpr: '30 2 * * *', timezone: 'Asia/Shanghai', dst: { gap: 'skip', overlap: 'both' },
  command: 'make report\n', shell: '/bin/bash', workDir: '/srv', stdin: 'x\n', env: { K: 'v', L: '' }, timeout: '1h', killGrace: '5s', output: { max: '1MiB' },
  startAt: '2026-12-01T00:00:00+08:00', endAt: '2026-12-31T23:59:59Z', jitter: '30s', overlap: 'queue', startDeadline: '10m', catchUp: { policy: 'all', window: '2h', max: 3 },
  onLost: 'abandon', lostAfter: '90s', placement: { strategy: 'least', selector: 'zone=a', workers: ['w1', 'w2'] }, priority: 9, slots: 2,
  retry: { max: 3, backoff: '1s', maxBackoff: '1m', exitCodes: [1, 75], elsewhere: false }, params: { DAY: { default: 'today', description: 'which', pattern: '[a-z]+' }, MODE: {} },
  notify: { on: ['recovered', 'failed'], to: ['ops', 'mail'] }, retention: { age: '7d', runs: 100 },
};

const nothing: Partial<Form> = {
  startAt: '', endAt: '', jitter: '', overlap: '', startDeadline: '', catchUpPolicy: '', catchUpWindow: '', catchUpMax: '', onLost: '', lostAfter: '', strategy: '', selector: '', workers: '',
  priority: '', slots: '', retryMax: '', retryBackoff: '', retryMaxBackoff: '', retryExitCodes: '', retryElsewhere: '', params: [],
  notifyOn: [], notifyTo: '', retentionAge: '', retentionRuns: '',
};

describe('a definition', () => {
  it('survives the form unchanged', () => expect(toDefinition(formOf(full), full)).toEqual(full));
  it('keeps what the form does not show', () => {
    const more = { ...full, labels: { team: 'data' }, successExitCodes: [0, 3], user: 'report', paused: true, pauseNote: 'moving', later: { field: 1 } } as Definition;
    expect(toDefinition(formOf(more), more)).toEqual(more);
  });
  it('keeps what it does not know inside of what it shows', () => {
    const more = { name: 'a', command: 'true', retry: { max: 1, later: 1 }, catchUp: { later: 1 }, placement: {}, params: { A: { later: 1 } } } as Definition;
    expect(toDefinition(formOf(more), more)).toEqual(more);
    expect(toDefinition({ ...formOf(more), retryMax: '' }, more).retry).toEqual({ later: 1 });
  });
  it('writes only what differs from the defaults', () => {
    const bare = { name: 'a', command: 'true' };
    expect(toDefinition({ ...formOf(bare), priority: '7' }, bare)).toEqual({ ...bare, priority: 7 });
    expect(toDefinition({ ...formOf(bare), retryElsewhere: 'false', workers: 'w1 w2，w3', selector: ' zone=a ' }, bare)).toEqual({
      ...bare, retry: { elsewhere: false }, placement: { selector: 'zone=a', workers: ['w1', 'w2', 'w3'] },
    });
  });
  it('leaves a time that nobody touched as it was written', () => {
    const timed = { name: 'a', command: 'true', startAt: '2026-12-01T00:00:00.5+08:00' };
    expect(toDefinition({ ...formOf(timed), title: 'x' }, timed).startAt).toBe(timed.startAt);
    expect(toDefinition({ ...formOf(timed), startAt: '2027-01-01T00:00' }, timed).startAt).toBe(new Date(2027, 0, 1).toISOString().replace('.000Z', 'Z'));
  });
  it('leaves out what is empty', () => expect(toDefinition({ ...emptyForm, name: 'a', command: 'true' }, undefined)).toEqual({ name: 'a', command: 'true' }));
  it('drops what was emptied', () => {
    const got = toDefinition({ ...formOf(full), title: '', dstGap: '', dstOverlap: '', env: [], timeout: ' ', outputMax: '', ...nothing }, full);
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
  ['retry.exitCodes[1]', 'retryExitCodes'], ['placement.workers[0]', 'workers'], ['catchUp.max', 'catchUpMax'], ['params.DAY.pattern', 'params'], ['startAt', 'startAt'], ['workers', undefined],
  ['notify', 'notifyTo'], ['notify.on[0]', 'notifyOn'], ['notify.to[3]', 'notifyTo'], ['retention.runs', 'retentionRuns'],
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
  expect(hasRepeatedName([{ name: 'A' }, { name: 'B' }])).toBe(false);
  expect(hasRepeatedName([{ name: 'A' }, { name: 'A' }])).toBe(true);
  expect(hasRepeatedName([{ name: '' }, { name: '' }])).toBe(false);
});

it('says what no definition can hold', () => {
  const own = (form: Partial<Form>) => ownFaults({ ...emptyForm, ...form }).map((fault) => fault.location);
  expect(own({})).toEqual([]);
  expect(own({ priority: ' 7 ', retryMax: '3', retryExitCodes: '1, 75' })).toEqual([]);
  expect(own({ priority: 'high', slots: '1.5', retryMax: '-1', catchUpMax: 'x', retentionRuns: 'all', retryExitCodes: '1, all' })).toEqual(['catchUp.max', 'priority', 'slots', 'retry.max', 'retention.runs', 'retry.exitCodes']);
  expect(own({ params: [{ name: 'A', default: '', description: '', pattern: '' }, { name: 'A', default: '1', description: '', pattern: '' }] })).toEqual(['params']);
});
