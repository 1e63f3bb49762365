import { expect, it } from 'vitest';
import { labelled, listed, sentences } from './lists.ts';

it('joins texts as the language requires', () => {
  expect(listed(['a', '', undefined, 'b', false], 'en')).toBe('a, b');
  expect(listed(['甲', '乙'], 'zh')).toBe('甲、乙');
  expect(sentences(['One.', null, 'Two.'], 'en')).toBe('One. Two.');
  expect(sentences(['一。', '二。'], 'zh')).toBe('一。二。');
  expect(labelled('Kill', 'nightly', 'en')).toBe('Kill: nightly');
  expect(labelled('终止', 'nightly', 'zh')).toBe('终止：nightly');
});
