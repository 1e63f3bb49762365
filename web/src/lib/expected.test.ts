import { expect, it } from 'vitest';
import { progressOf } from './expected.ts';

const run = { status: 'running', claimedAt: '2026-03-01T12:00:00Z', expectedEndAt: '2026-03-01T12:01:40Z' };
const at = (second: number) => Date.parse('2026-03-01T12:00:00Z') + second * 1000;

it('computes the progress of a run', () => expect(progressOf(run, at(25))).toEqual({ share: 0.25, left: 75, elapsed: 25 }));
it('stays at 1 if the run takes longer', () => expect(progressOf(run, at(150))).toEqual({ share: 1, left: -50, elapsed: 150 }));
it('is not negative if a clock is wrong', () => expect(progressOf(run, at(-5))).toMatchObject({ share: 0, elapsed: 0 }));
it('counts from the start if that is known', () => expect(progressOf({ ...run, startedAt: '2026-03-01T12:00:50Z' }, at(75))?.share).toBe(0.5));
it.each([{ ...run, status: 'waiting' }, { ...run, expectedEndAt: undefined }, { ...run, claimedAt: undefined }])('is undefined for %j', (going) => expect(progressOf(going, at(1))).toBeUndefined());
