import { expect, it } from 'vitest';
import { progressOf } from './expected.ts';

const run = { status: 'running', claimedAt: '2026-03-01T12:00:00Z', expectedEndAt: '2026-03-01T12:01:40Z' };
const at = (second: number) => Date.parse('2026-03-01T12:00:00Z') + second * 1000;

it('says how far a run has come', () => expect(progressOf(run, at(25))).toEqual({ share: 0.25, left: 75, elapsed: 25 }));
it('stays at its end where the run takes longer', () => expect(progressOf(run, at(150))).toEqual({ share: 1, left: -50, elapsed: 150 }));
it('begins at its begin where a clock is off', () => expect(progressOf(run, at(-5))).toMatchObject({ share: 0, elapsed: 0 }));
it('counts from the start where that is known', () => expect(progressOf({ ...run, startedAt: '2026-03-01T12:00:50Z' }, at(75))?.share).toBe(0.5));
it.each([{ ...run, status: 'waiting' }, { ...run, expectedEndAt: undefined }, { ...run, claimedAt: undefined }])('knows nothing of %j', (going) => expect(progressOf(going, at(1))).toBeUndefined());
