import { expect, it } from 'vitest';
import { flag, readAddress, whole, writeAddress } from './address.ts';
import { jobsAddress, readJobFilter } from './jobFilter.ts';

it.each(['1.10', '1e3', 'true', 'null', '42', '"a"', '{}', '[1]', 'a b&c=d', '数据', '007'])('the word %s is unchanged in an address', (word) => {
  expect(readAddress(writeAddress({ job: word, none: undefined }))).toEqual({ job: word });
  expect(readJobFilter(readAddress(jobsAddress({ q: word }).replace(/^[^?]*/, ''))).q).toBe(word);
});

it('without set parameters it is empty', () => expect(writeAddress({ a: undefined })).toBe(''));

it.each([['true', true], [true, true], ['false', undefined], ['1', undefined]])('%j is a flag: %s', (value, is) => expect(flag(value)).toBe(is));
it.each([['3', 3], [3, 3], ['0', undefined], ['3.5', undefined], ['x', undefined], ['', undefined]])('%j is the number %s', (value, is) => expect(whole(value)).toBe(is));
