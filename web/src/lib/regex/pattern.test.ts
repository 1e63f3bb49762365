import { expect, it } from 'vitest';
import { placesIn } from '../logsearch.ts';
import { Finder } from './finder.ts';
import { Parser } from './parse.ts';
import { patternOf, type Pattern } from './pattern.ts';

const finder = (expression: string, matchCase = true): Pattern => new Finder(new Parser(expression, matchCase).parse());
const byBrowser = (expression: string, line: string, matchCase = true) =>
  [...line.matchAll(new RegExp(expression, matchCase ? 'g' : 'gi'))].filter(([text]) => text !== '').map((found) => [found.index, found.index + found[0].length]);

const line = 'At 12:05:07 worker-3 (eu) failed: "disk full", aab abab  x{2} [a-b] C:\\tmp ERROR error';
it.each([
  'a', 'a+b', '(a|b)+', '(ab)*', '(a|ab)(c|bab)', 'a{2}', 'a{1,}b', '(ab){1,2}', '(?:ab|a)+?b', 'a*?b', '\\d+:\\d\\d', '[^ ]+', '[a-c]+', '[\\w-]+', '\\bfail', 'ed\\b', '^At', 'error$', '\\(eu\\)', '"[^"]*"',
  'x\\{2\\}', 'x{2}', '\\[a-b\\]', 'C:\\\\tmp', '.{3,5}:', '(e|er|err)o?r', '(?<word>\\w+) full', '\\S+\\s+x', '(a|b|)b', '\\x45RR', 'E.*r', '(.*)(.*)(.*)r', 'nothing',
])('%s is found where a browser finds it', (expression) => {
  expect(placesIn(line, finder(expression))).toEqual(byBrowser(expression, line));
  expect(placesIn(line, finder(expression, false))).toEqual(byBrowser(expression, line, false));
  expect(placesIn(line, patternOf(expression, true) as Pattern)).toEqual(byBrowser(expression, line));
});

it.each(['(', ')', 'a)', '[a', '*a', 'a**', '[b-a]', '\\', 'a{3,2}'])('%s is no expression', (expression) => expect(patternOf(expression, true)).toBe('invalid'));

it.each(['[]a]', '(?=a)b', '(?<!a)b', '(a)\\1', '((a{1000}){1000}){1000}'])('%s is not looked for', (expression) => expect(patternOf(expression, true)).toBe('unknown'));

it.each(['(a|a)*b', '((a)+)+b', '(a|aa)+$', '(a+)+$', '(a|b*)*c', '(.*)(.*)(.*)(.*)x', '(a?){40}b', '(a|a)(a|a)(a|a)(a|a)(a|a)(a|a)(a|a)(a|a)(a|a)(a|a).*(a|a)b', 'a*a*a*a*b'])(
  'however many ways %s has, it is found in time',
  (expression) => {
    const begun = performance.now();
    placesIn('a'.repeat(4096), patternOf(expression, true) as Pattern);
    expect(performance.now() - begun).toBeLessThan(2000);
  },
);
