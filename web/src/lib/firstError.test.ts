import { expect, it } from 'vitest';
import { firstError, tellsOfError } from './firstError.ts';
import { mark } from './logline.ts';
import { LogStore } from './logstore.ts';

it.each([
  ['Error: no', true], ['2026 FATAL x', true], ['Traceback (most recent call last):', true], ['\u001b[31merr\u001b[0mor', true], ['sh: foo: command not found', true],
  ['terror', false], ['all is well', false],
])('%s', (text, want) => expect(tellsOfError(0, text)).toBe(want));

it('matches any line on stderr, but not a gap', () => {
  expect(tellsOfError(mark.stderr, 'x')).toBe(true);
  expect(tellsOfError(mark.hole, '100')).toBe(false);
});

it('finds the first match', async () => {
  const store = new LogStore();
  for (let i = 0; i < 3000; i++) store.append({ text: i === 2000 || i === 2500 ? 'panic: x' : 'fine', marks: 0, at: NaN, offset: i });
  expect(await firstError(store, () => Promise.resolve())).toBe(2000);
  expect(await firstError(new LogStore(), () => Promise.resolve())).toBeUndefined();
});
