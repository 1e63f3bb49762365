import { expect, it } from 'vitest';
import type { Job } from '../../api/types.ts';
import { applies, commandOf } from './commands.ts';

it.each([
  ['pause payouts', { verb: 'pause', of: 'payouts' }],
  ['Run  nightly report', { verb: 'run', of: 'nightly report' }],
  ['run with orders', { verb: 'runWith', of: 'orders' }],
  ['logs orders', { verb: 'log', of: 'orders' }],
  ['暂停 payouts', { verb: 'pause', of: 'payouts' }],
  ['运行报表', { verb: 'run', of: '报表' }],
  ['runner', undefined],
  ['pause', undefined],
  ['payouts', undefined],
])('%s', (typed, want) => expect(commandOf(typed)).toEqual(want));

it('only a paused job is resumed', () => {
  const job = (paused: boolean) => ({ meta: { paused } }) as Job;
  expect([applies('resume', job(true)), applies('resume', job(false)), applies('pause', job(true)), applies('run', job(true))]).toEqual([true, false, false, true]);
});
