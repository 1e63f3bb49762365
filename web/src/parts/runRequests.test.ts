import { expect, it } from 'vitest';
import { runRequests } from './runRequests.ts';

function asking() {
  let made = 0;
  return runRequests(() => `key ${++made}`);
}

it('a second click during the first request, or right after it, sends nothing', () => {
  const asked = asking();
  expect(asked.begin('a', 1000)).toBe('key 1');
  expect(asked.begin('a', 9000)).toBeUndefined();
  expect(asked.begin('b', 9000)).toBe('key 2');
  asked.answered('b');
  expect(asked.begin('b', 9200)).toBeUndefined();
  expect(asked.begin('b', 10_000)).toBe('key 3');
});

it('an unanswered request is repeated with its key, for a while', () => {
  const asked = asking();
  asked.begin('a', 1000);
  asked.failed('a');
  expect(asked.begin('a', 3000)).toBe('key 1');
  asked.failed('a');
  expect(asked.begin('a', 90_000)).toBe('key 2');
  asked.answered('a');
  expect(asked.begin('a', 95_000)).toBe('key 3');
});
