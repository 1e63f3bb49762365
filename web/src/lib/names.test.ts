import { expect, it } from 'vitest';
import { isName } from './names.ts';

it.each([
  ['a', true], ['nightly-report', true], ['a.b_c-1', true], ['a'.repeat(128), true],
  ['', false], ['A', false], ['a-', false], ['-a', false], ['a..b', false], ['a/b', false], ['a'.repeat(129), false], ['名', false],
])('%j: %s', (text, want) => expect(isName(text)).toBe(want));
