import { expect, it } from 'vitest';
import { en } from '../i18n/en/index.ts';
import { adviceFor, advised, exitMeaning, signalMeaning } from './outcome.ts';

it.each([
  [0, {}], [1, { exit: 'general' }], [3, {}], [75, { exit: 'temporary' }], [126, { exit: 'notExecutable' }], [127, { exit: 'notFound' }], [128, {}],
  [137, { signal: 'kill', name: 'SIGKILL' }], [139, { signal: 'segfault', name: 'SIGSEGV' }], [143, { signal: 'term', name: 'SIGTERM' }], [200, {}], [255, { exit: 'outOfRange' }],
])('exit code %i', (code, want) => expect(exitMeaning(code)).toEqual(want));

it('names signals', () => {
  expect(signalMeaning('SIGKILL')).toEqual({ signal: 'kill', name: 'SIGKILL' });
  expect(signalMeaning('SIGRT5')).toEqual({});
});

it('has texts for all of its codes', () => {
  for (const code of advised) expect(en.outcome.advice[code]).toMatch(/\.$/);
  expect(adviceFor({ code: 'late' })).toBe('late');
  expect(adviceFor({ code: 'worker_stopping' })).toBe('worker_stopping');
  expect(adviceFor({ code: 'worker_stopping' }, { followed: true })).toBe('worker_stopping_followed');
  expect(adviceFor({ code: 'of_tomorrow' })).toBeUndefined();
});
