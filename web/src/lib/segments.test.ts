import { describe, expect, it } from 'vitest';
import { addressesIn, segmentsOf } from './segments.ts';

const plain = (...texts: string[]) => texts.map((text) => ({ text, classes: '' }));

describe('addresses', () => {
  it.each([
    ['see https://example.org/a?b=c#d.', ['https://example.org/a?b=c#d']],
    ['(http://localhost:8080/x)', ['http://localhost:8080/x']],
    ['http://a.example, https://b.example', ['http://a.example', 'https://b.example']],
    ['javascript:alert(1) //x data:text/html,x ftp://x', []],
    ['https://good.example@evil.example/', []],
    ['https://good.example:secret@evil.example/', ['https://good.example']],
    ['https://', []],
    ['https://例え.example', []],
    ['https://a.example/"onmouseover="x', ['https://a.example/']],
  ])('%s', (text, want) => expect(addressesIn(text).map(([from, to]) => text.slice(from, to))).toEqual(want));
});

it('splits at matches, which may cross spans', () => {
  expect(segmentsOf(plain('one tw', 'o three'), [[0, 3], [4, 7]])).toEqual([
    { text: 'one', classes: '', match: 0 }, { text: ' ', classes: '' }, { text: 'tw', classes: '', match: 1 }, { text: 'o', classes: '', match: 1 }, { text: ' three', classes: '' },
  ]);
});

it('does not split an address at a match within it', () => {
  expect(segmentsOf(plain('go http://a.example/x'), [[10, 11]]).map((s) => [s.text, s.href, s.match])).toEqual([
    ['go ', undefined, undefined], ['http://', 'http://a.example/x', undefined], ['a', 'http://a.example/x', 0], ['.example/x', 'http://a.example/x', undefined],
  ]);
});

it('finds no address across two spans', () => {
  expect(segmentsOf(plain('https://good.example', '.evil.example'), []).map((s) => s.href)).toEqual(['https://good.example', undefined]);
});
