import { expect, it } from 'vitest';
import { endsOfRange, rangeAround } from './runRange.ts';

it.each([
  [{}, { from: undefined, to: undefined }],
  [{ range: 'hour', from: 'x', to: 'y' }, { from: -3_600_000, to: undefined }],
  [{ range: 'custom', from: 'x' }, { from: 'x', to: undefined }],
] as const)('the ends of %j', (range, want) => expect(endsOfRange(range)).toEqual(want));

it('a range around a run includes all of it', () =>
  expect(rangeAround('2026-03-01T12:00:00Z', '2026-03-01T13:00:00Z', 10)).toEqual({ range: 'custom', from: '2026-03-01T11:50:00.000Z', to: '2026-03-01T13:10:00.000Z' }));
