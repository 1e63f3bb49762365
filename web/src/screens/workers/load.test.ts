import { describe, expect, it } from 'vitest';
import type { Run } from '../../api/types.ts';
import { costliest, loadOf } from './load.ts';
import { compareVersions, oldestOf } from './versions.ts';

const run = (from: number, to?: number, status = 'succeeded') =>
  ({ status: to === undefined ? 'running' : status, startedAt: new Date(from).toISOString(), endedAt: to === undefined ? undefined : new Date(to).toISOString() }) as Run;

describe('the load of a worker', () => {
  it('is the number of concurrent runs', () => expect(loadOf([run(0, 15), run(5, 8), run(12, 25)], 0, 40, 10, 40).busy).toEqual([2, 2, 1, 0]));
  it('counts earlier and running ones', () => expect(loadOf([run(-20, 5), run(15)], 0, 40, 10, 30).busy).toEqual([1, 1, 1, 1]));
  it('does not count consecutive runs as concurrent', () => expect(loadOf([run(0, 5), run(5, 9)], 0, 10, 10, 10).busy).toEqual([1]));
  it('counts ends in their step', () => {
    const { well, badly } = loadOf([run(0, 15), run(0, 5, 'failed'), run(0, 16), run(0)], 0, 20, 10, 20);
    expect([well, badly]).toEqual([[0, 2], [1, 0]]);
  });
  it('is unknown where runs are missing', () => expect(loadOf([run(15, 16)], 0, 30, 10, 30, 12).busy).toEqual([null, 1, 0]));
});

it('adds up in a step what the runs that ended in it have used', () => {
  const used = (to: number, more: Partial<Run>) => ({ ...run(0, to), ...more });
  const load = loadOf([used(5, { cpuSeconds: 2, maxRssBytes: 7, readBytes: 1 }), used(6, { cpuSeconds: 0.5, maxRssBytes: 9, writtenBytes: 4 }), used(15, {})], 0, 20, 10, 20);
  expect([load.cpuMs, load.memory, load.read, load.written]).toEqual([[2500, 0], [9, 0], [1, 0], [4, 0]]);
});

it('ranks jobs by the CPU time of the runs that have ended since', () => {
  const of = (job: string, to: number, cpuSeconds?: number) => ({ ...run(0, to), job, cpuSeconds, maxRssBytes: to }) as Run;
  expect(costliest([of('a', 20, 1), of('b', 30, 5), of('a', 40, 2), of('c', 20), of('b', 5, 9)], 10, 5)).toMatchObject([{ job: 'b', runs: 1, cpuSeconds: 5 }, { job: 'a', runs: 2, cpuSeconds: 3, memoryBytes: 40 }]);
  expect(costliest([of('a', 20, 1), of('b', 30, 5)], 0, 1).map(({ job }) => job)).toEqual(['b']);
});

it.each([
  ['v1.9.0', 'v1.10.0', -1],
  ['v1.10', 'v1.10.0', -1],
  ['1.2.3', '1.2.3', 0],
  ['dev', 'v0.1.0', -1],
])('%s compared to %s', (a, b, by) => expect(Math.sign(compareVersions(a, b))).toBe(by));

it('the oldest version is returned if they differ', () => {
  expect(oldestOf(['v1.10.0', 'v1.9.0', ''])).toBe('v1.9.0');
  expect(oldestOf(['v1.9.0', 'v1.9.0'])).toBeUndefined();
});
