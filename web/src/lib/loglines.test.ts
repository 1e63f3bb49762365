import { expect, it } from 'vitest';
import { overwritten } from './carriage.ts';
import { longestLine, mark, type LogLine } from './logline.ts';
import { LineCutter, utf8Length } from './loglines.ts';

function cut(...pieces: string[]): LogLine[] {
  const lines: LogLine[] = [];
  const cutter = new LineCutter((line) => lines.push(line));
  let offset = 0;
  for (const piece of pieces) {
    cutter.text(piece, offset);
    offset += utf8Length(piece);
  }
  return [...lines, ...cutter.unfinished()];
}

it.each<[string, string[], string[]]>([
  ['nothing', [''], []],
  ['one line', ['a\n'], ['a']],
  ['an unfinished line', ['a\nb'], ['a', 'b']],
  ['a line in pieces', ['a', 'b\nc'], ['ab', 'c']],
  ['empty lines', ['\n\na\n'], ['', '', 'a']],
  ['CRLF', ['a\r\nb\r\n'], ['a', 'b']],
  ['CRLF cut in two', ['a\r', '\nb'], ['a', 'b']],
  ['a progress bar', ['10%\r20%\r', '30%\n'], ['30%']],
  ['a progress bar that goes on', ['10%\r20%\r', '30%'], ['30%']],
  ['a bar that shrinks leaves what it does not reach', ['abcdef\rxy\n'], ['xycdef']],
  ['a bar that erases the rest', ['abcdef\rxy\u001b[K\n'], ['xy']],
])('%s', (_name, pieces, want) => expect(cut(...pieces).map((l) => l.text)).toEqual(want));

it('marks overwritten lines, but not CRLF', () => {
  expect(cut('10%\r20%\na\r\n').map((l) => (l.marks & mark.over) !== 0)).toEqual([true, false]);
});

it('stores a progress bar once, however often it is drawn', () => {
  const lines: LogLine[] = [];
  const cutter = new LineCutter((line) => lines.push(line));
  for (let n = 0; n < 20_000; n++) cutter.text(`\u001b[3${n % 8}m${'#'.repeat(n % 50)}${'.'.repeat(50 - (n % 50))}\u001b[0m\r`, n);
  cutter.text('done\n', 20_000);
  expect(lines).toHaveLength(1);
  expect(lines[0]?.text.replaceAll(/\u001b\[[0-9;]*m/g, '')).toHaveLength(50);
  expect(lines[0]?.text.length).toBeLessThan(200);
});

it('keeps the colours of the remaining text', () => {
  expect(overwritten('\u001b[31mred\r\u001b[32mg')).toEqual({ text: '\u001b[0;32mg\u001b[0;31med\u001b[0;32m', times: 1 });
});

it('splits a line that is too long to lay out, and marks the continuation', () => {
  const got = cut('x'.repeat(longestLine * 2 + 5));
  expect(got.map((l) => l.text.length)).toEqual([longestLine, longestLine, 5]);
  expect(got.map((l) => (l.marks & mark.goesOn) !== 0)).toEqual([false, true, true]);
  expect(got.map((l) => l.offset)).toEqual([0, longestLine, 2 * longestLine]);
});

it('returns the byte offset of each line', () => {
  expect(cut('a\n值\r\n', 'é\n🎉\nz\n').map((l) => l.offset)).toEqual([0, 2, 7, 10, 15]);
});

it('separates the streams, with each line at the position of its end', () => {
  const lines: LogLine[] = [];
  const cutter = new LineCutter((line) => lines.push(line));
  cutter.text('half', 0, 'stdout', 1);
  cutter.text('warning\n', 4, 'stderr', 2);
  cutter.text(' whole\n', 12, 'stdout', 3);
  expect(lines).toEqual([
    { text: 'warning', at: 2, offset: 4, marks: mark.stderr + mark.known },
    { text: 'half whole', at: 1, offset: 0, marks: mark.known },
  ]);
});

it('marks gaps', () => {
  const lines: LogLine[] = [];
  const cutter = new LineCutter((line) => lines.push(line));
  cutter.text('half', 0);
  cutter.hole(4, 100);
  expect(lines.map((l) => [l.text, l.marks])).toEqual([['half', 0], ['100', mark.hole]]);
});
