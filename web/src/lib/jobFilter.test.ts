import { describe, expect, it } from 'vitest';
import { filterKey, isNarrowed, jobsAddress, noGroup, readJobFilter, sortedBy, toggledTrait, whichJobs } from './jobFilter.ts';

describe('the filter in the address', () => {
  it.each([
    [{}, '/jobs'],
    [{ q: 'night', group: 'data.etl', labels: 'team=data,tier!=slow', state: 'paused', is: 'failing,late', sort: '-nextFire' }, '/jobs?q=night&group=data.etl&labels=team%3Ddata%2Ctier%21%3Dslow&state=paused&is=failing%2Clate&sort=-nextFire'],
    [{ group: noGroup }, '/jobs?group=-'],
  ])('%j comes back from %s', (search, address) => {
    const filter = readJobFilter(search);
    expect(jobsAddress(filter)).toBe(address);
    const query = Object.fromEntries(new URLSearchParams(address.split('?')[1] ?? ''));
    expect(filterKey(readJobFilter(query))).toBe(address);
  });
  it('omits invalid values', () =>
    expect(readJobFilter({ q: '', group: '../x', state: 'gone', is: 'gone', sort: 'colour', labels: { a: 1 } })).toEqual({ is: undefined, q: undefined, group: undefined, labels: undefined, state: undefined, sort: undefined }));
  it('accepts a number as a word', () => expect(readJobFilter({ q: 42 }).q).toBe('42'));
  it('requests the jobs below a group, or those without one', () => {
    expect(whichJobs({ group: 'data', labels: 'a=b' })).toEqual({ is: undefined, q: undefined, below: 'data', ungrouped: undefined, selector: 'a=b', state: undefined });
    expect(whichJobs({ group: noGroup })).toMatchObject({ below: undefined, ungrouped: true });
  });
  it('traits are toggled, in one order', () => {
    expect(readJobFilter({ is: 'late,failing,bad' }).is).toBe('failing,late');
    expect(toggledTrait('late', 'failing')).toBe('failing,late');
    expect(toggledTrait('late', 'late')).toBeUndefined();
    expect(whichJobs({ is: 'failing,late' }).is).toEqual(['failing', 'late']);
    expect(isNarrowed({ is: 'failing' })).toBe(true);
  });
  it('an order alone is not a filter', () => {
    expect(isNarrowed({ sort: '-name' })).toBe(false);
    expect(isNarrowed({ state: 'done' })).toBe(true);
  });
});

it.each([
  [undefined, 'name', '-name'],
  ['-name', 'name', undefined],
  [undefined, 'nextFire', 'nextFire'],
  ['nextFire', 'nextFire', '-nextFire'],
  ['-nextFire', 'group', 'group'],
  [undefined, 'lastRun', '-lastRun'],
  ['-lastRun', 'lastRun', 'lastRun'],
  ['lastRun', 'lastRun', '-lastRun'],
  [undefined, 'success', 'success'],
] as const)('sorted by %s, a click on %s: %s', (now, order, next) => expect(sortedBy(now, order)).toBe(next));
