import { expect, it } from 'vitest';
import { choicesOf, switchOf } from './choices.ts';

it.each([
  ['staging|production', ['staging', 'production']], ['^(eu-1|us-2)$', ['eu-1', 'us-2']], ['(?:a|b|c)', ['a', 'b', 'c']], ['v1\\.2|v1\\.3', ['v1.2', 'v1.3']], ['yes|no', ['yes', 'no']],
])('%s is a list', (pattern, words) => expect(choicesOf(pattern)).toEqual(words));

it.each([undefined, '', 'one', '[a-z]+', 'a|b+', 'a|', 'v1.2|v1.3', '(a|b)c', '(?i)a|b', 'a|a', '((a|b))', 'a b|c', '\\d|x'])('%s is not', (pattern) => expect(choicesOf(pattern)).toBeUndefined());

it('true and false, yes and no, on and off are a switch', () => {
  expect(switchOf(['no', 'yes'])).toEqual({ on: 'yes', off: 'no' });
  expect(switchOf(['true', 'false'])).toEqual({ on: 'true', off: 'false' });
  expect(switchOf(['true', 'no'])).toBeUndefined();
  expect(switchOf(['true', 'false', 'auto'])).toBeUndefined();
  expect(switchOf(undefined)).toBeUndefined();
});
