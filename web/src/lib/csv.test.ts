import { expect, it } from 'vitest';
import { toCsv } from './csv.ts';

it.each([
  [[['a', 'b'], ['1', '2']], 'a,b\r\n1,2\r\n'],
  [[['say "hi", twice']], '"say ""hi"", twice"\r\n'],
  [[['two\nlines']], '"two\nlines"\r\n'],
  [[['=HYPERLINK("x")'], ['+1'], ['@a'], ['-2']], `"'=HYPERLINK(""x"")"\r\n'+1\r\n'@a\r\n'-2\r\n`],
  [[], ''],
])('%j', (rows, text) => expect(toCsv(rows)).toBe(text));
