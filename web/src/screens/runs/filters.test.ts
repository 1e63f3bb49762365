// @vitest-environment happy-dom
import { expect, it } from 'vitest';
import { cleaned, exitCodeOf, filterOf } from './filters.ts';

it.each([['3', 3], ['0', 0], ['255', 255], ['256', undefined], ['x', undefined], ['', undefined], [undefined, undefined]])('exit code %j', (text, want) => expect(exitCodeOf(text)).toBe(want));

it('converts the address to query parameters', () => {
  expect(filterOf({ job: 'a', status: 'failed,lost,nonsense', range: 'hour', from: '2026-01-01T00:00:00Z', exitCode: '3' })).toMatchObject({ job: 'a', statuses: ['failed', 'lost'], from: -3_600_000, to: undefined, exitCode: 3 });
  expect(filterOf({ range: 'custom', from: '2026-01-01T00:00:00Z' })).toMatchObject({ from: '2026-01-01T00:00:00Z', to: undefined, statuses: [] });
});

it('removes defaults from the address', () => expect(cleaned({ job: '', q: undefined, range: 'day', from: 'x', worker: 'w' })).toEqual({ range: 'day', worker: 'w' }));
