import { describe, expect, it } from 'vitest';
import { filterKey, isNarrowed, jobsAddress, noGroup, readJobFilter, sortedBy, whichJobs } from './jobFilter.ts';

describe('the filter in the address', () => {
  it.each([
    [{}, '/jobs'],
    [{ q: 'night', group: 'data.etl', labels: 'team=data,tier!=slow', state: 'paused', sort: '-nextFire' }, '/jobs?q=night&group=data.etl&labels=team%3Ddata%2Ctier%21%3Dslow&state=paused&sort=-nextFire'],
    [{ group: noGroup }, '/jobs?group=-'],
  ])('%j comes back from %s', (search, address) => {
    const filter = readJobFilter(search);
    expect(jobsAddress(filter)).toBe(address);
    const query = Object.fromEntries(new URLSearchParams(address.split('?')[1] ?? ''));
    expect(filterKey(readJobFilter(query))).toBe(address);
  });
  it('omits invalid values', () =>
    expect(readJobFilter({ q: '', group: '../x', state: 'gone', sort: 'colour', labels: { a: 1 } })).toEqual({ q: undefined, group: undefined, labels: undefined, state: undefined, sort: undefined }));
  it('accepts a number as a word', () => expect(readJobFilter({ q: 42 }).q).toBe('42'));
  it('requests the jobs below a group, or those without one', () => {
    expect(whichJobs({ group: 'data', labels: 'a=b' })).toEqual({ q: undefined, below: 'data', ungrouped: undefined, selector: 'a=b', state: undefined });
    expect(whichJobs({ group: noGroup })).toMatchObject({ below: undefined, ungrouped: true });
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
] as const)('sorted by %s, a click on %s: %s', (now, order, next) => expect(sortedBy(now, order)).toBe(next));
