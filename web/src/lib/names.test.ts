import { expect, it } from 'vitest';
import { isName, isRunJob } from './names.ts';

it.each([
  ['a', true], ['nightly-report', true], ['a.b_c-1', true], ['a'.repeat(128), true],
  ['', false], ['A', false], ['a-', false], ['-a', false], ['a..b', false], ['a/b', false], ['a'.repeat(129), false], ['名', false],
])('%j: %s', (text, want) => expect(isName(text)).toBe(want));

it.each([
  ['nightly', true], ['nightly:load', true], ['nightly:load-2', true], ['nightly:', false], ['nightly:a.b', false], [':load', false], ['a:b:c', false],
])('runs may have the job %j: %s', (text, want) => expect(isRunJob(text)).toBe(want));
