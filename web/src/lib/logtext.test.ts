import { expect, it } from 'vitest';
import { mark, type LogLine } from './logline.ts';
import { LogStore } from './logstore.ts';
import { textBetween } from './logtext.ts';
import { shows } from './shownLines.ts';

const lines: [string, number][] = [
  ['one', mark.known], ['\u001b[31mtwo\u001b[0m', mark.known | mark.stderr], ['', mark.known], ['thr', mark.known], ['ee', mark.known | mark.goesOn], ['400', mark.hole], ['f\u202eive', mark.known],
];

function store(): LogStore {
  const made = new LogStore();
  for (const [text, marks] of lines) made.append({ text, marks, at: NaN, offset: 0 } satisfies LogLine);
  return made;
}

const end = { name: 6, at: Infinity };

it('is plain text with invisible characters shown, in complete lines', () =>
  expect(textBetween(store(), { name: 0, at: 0 }, end)).toBe('one\ntwo\n\nthree\nf⟦RLO⟧ive'));

it('starts and ends within lines', () => {
  expect(textBetween(store(), { name: 0, at: 2 }, { name: 1, at: 2 })).toBe('e\ntw');
  expect(textBetween(store(), { name: 1, at: 1 }, { name: 1, at: 2 })).toBe('w');
});

it('omits hidden and dropped lines', () => {
  expect(textBetween(store(), { name: 0, at: 0 }, end, shows('stderr'))).toBe('two');
  expect(textBetween(store(), { name: -5, at: 2 }, { name: 0, at: 3 })).toBe('one');
});
