import { expect, it } from 'vitest';
import { isComing, usageSeries, usageTotals, type UsageSample } from './usage.ts';

const sample = (second: number, cpuSeconds: number, more: Partial<UsageSample> = {}): UsageSample => ({ at: new Date(Date.UTC(2026, 0, 1, 0, 0, second)).toISOString(), cpuSeconds, memoryBytes: 0, readBytes: 0, writtenBytes: 0, processes: 1, ...more });
const start = '2026-01-01T00:00:00Z';

it('returns rates between cumulative samples, the first since the start', () => {
  const { cpu, read, times } = usageSeries([sample(1, 0.5), sample(3, 2.5, { readBytes: 4096 }), sample(13, 7.5, { readBytes: 4096 })], start);
  expect(cpu).toEqual([0.5, 1, 0.5]);
  expect(read).toEqual([0, 2048, 0]);
  expect(times[1]).toBe(Date.parse(start) + 3000);
});

it('has no memory after the last process', () => {
  expect(usageSeries([sample(1, 1, { memoryBytes: 5 }), sample(2, 2, { processes: 0 })], start).memory).toEqual([5, null]);
});

it('has no rate where a counter goes back, and none before a second sample without a start', () => {
  expect(usageSeries([sample(1, 5), sample(2, 3), sample(3, 4)], undefined).cpu).toEqual([null, null, 1]);
  expect(usageSeries([sample(1, 5), sample(1, 6)], start).cpu).toEqual([5, null]);
});

it('takes totals from the last sample until the run has ended', () => {
  const samples = [sample(1, 0.5, { memoryBytes: 9 }), sample(2, 1, { memoryBytes: 4, readBytes: 7 })];
  expect(usageTotals({}, samples)).toEqual({ cpuSeconds: 1, memoryBytes: 9, readBytes: 7, writtenBytes: 0 });
  expect(usageTotals({ cpuSeconds: 2, maxRssBytes: 12, writtenBytes: 3 }, samples)).toEqual({ cpuSeconds: 2, memoryBytes: 12, readBytes: 7, writtenBytes: 3 });
  expect(usageTotals({}, []).cpuSeconds).toBeUndefined();
});

it('waits for the last sample, which has no process and follows the end', () => {
  const end = '2026-01-01T00:00:10Z';
  const now = Date.parse(end) + 5000;
  expect(isComing(undefined, end, now)).toBe(true);
  expect(isComing({ live: true, samples: [] }, undefined, now)).toBe(true);
  expect(isComing({ live: false, samples: [] }, end, now)).toBe(true);
  expect(isComing({ live: false, samples: [sample(9, 1)] }, end, now)).toBe(true);
  expect(isComing({ live: false, samples: [sample(9, 1), sample(10, 1, { processes: 0 })] }, end, now)).toBe(false);
  expect(isComing({ live: false, samples: [] }, end, now + 60_000)).toBe(false);
});
