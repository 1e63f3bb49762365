// @vitest-environment happy-dom
import { expect, it } from 'vitest';
import { createConsoleRouter } from './router.tsx';

it('the router reads words, flags and numbers as they were written', () => {
  const { parseSearch, stringifySearch } = createConsoleRouter(() => Promise.resolve()).options;
  expect(parseSearch?.('?job=1.10&group=2.10&q=true')).toEqual({ job: '1.10', group: '2.10', q: 'true' });
  expect(stringifySearch?.({ q: '1.10', regex: true, version: 3, job: undefined })).toBe('?q=1.10&regex=true&version=3');
});
