import { expect, it } from 'vitest';
import { LogLines, longestLine } from './loglines.ts';

const lines = (...pieces: string[]) => {
  const log = new LogLines();
  for (const p of pieces) log.append(p);
  return log.snapshot().map((l) => l.text);
};

it.each<[string, string[], string[]]>([
  ['nothing', [''], []],
  ['one line', ['a\n'], ['a']],
  ['an unfinished line', ['a\nb'], ['a', 'b']],
  ['a line in pieces', ['a', 'b\nc'], ['ab', 'c']],
  ['empty lines', ['\n\na\n'], ['', '', 'a']],
  ['CRLF', ['a\r\nb\r\n'], ['a', 'b']],
  ['CRLF cut in two', ['a\r', '\nb'], ['a', 'b']],
  ['a progress bar', ['10%\r20%\r', '30%\n'], ['10%', '20%', '30%']],
])('%s', (_name, pieces, want) => expect(lines(...pieces)).toEqual(want));

it('cuts a line that is too long to lay out', () => {
  const got = lines('x'.repeat(longestLine * 2 + 5));
  expect(got.map((l) => l.length)).toEqual([longestLine, longestLine, 5]);
});

it('remembers the style at the start of each line', () => {
  const log = new LogLines();
  log.append('\x1b[31mred\nstill\n\x1b[0m\nplain\n');
  expect(log.snapshot().map((l) => l.start.fg)).toEqual([undefined, 1, 1, undefined]);
});
