import { describe, expect, it } from 'vitest';
import { applySgr, parseLine, plain, plainText, sgrOf, styleAfter, type Span } from './ansi.ts';

const text = (line: string) => parseLine(line).spans.map((s) => s.text).join('');

describe('colours', () => {
  it.each<[string, Span[]]>([
    ['plain', [{ text: 'plain', classes: '' }]],
    ['\x1b[31mred\x1b[0m off', [{ text: 'red', classes: 'ansi-fg-1' }, { text: ' off', classes: '' }]],
    ['\x1b[1;4;92mx', [{ text: 'x', classes: 'ansi-fg-10 ansi-bold ansi-underline' }]],
    ['\x1b[44mx\x1b[49my', [{ text: 'x', classes: 'ansi-bg-4' }, { text: 'y', classes: '' }]],
    ['\x1b[7mx', [{ text: 'x', classes: 'ansi-inverse' }]],
    ['\x1b[7;31;42mx', [{ text: 'x', classes: 'ansi-fg-2 ansi-bg-1' }]],
    ['\x1b[38;5;9mx', [{ text: 'x', classes: 'ansi-fg-9' }]],
    ['\x1b[38;5;196mx', [{ text: 'x', classes: 'ansi-fg-rgb', fg: '#ff0000' }]],
    ['\x1b[38;5;244mx', [{ text: 'x', classes: 'ansi-fg-rgb', fg: '#808080' }]],
    ['\x1b[38;2;255;136;0mx', [{ text: 'x', classes: 'ansi-fg-rgb', fg: '#ff8800' }]],
    ['\x1b[48;2;999;0;7mx', [{ text: 'x', classes: 'ansi-bg-rgb', bg: '#ff0007' }]],
    ['\x1b[7;38;2;1;2;3mx', [{ text: 'x', classes: 'ansi-bg-rgb', bg: '#010203' }]],
    ['\x1b[38;5;999mx', [{ text: 'x', classes: '' }]],
    ['\x9b32mx', [{ text: 'x', classes: 'ansi-fg-2' }]],
    ['\x1b[mx', [{ text: 'x', classes: '' }]],
  ])('%j', (line, spans) => expect(parseLine(line).spans).toEqual(spans));

  it('carries the style over lines', () => {
    const first = parseLine('\x1b[31mone');
    expect(parseLine('two', first.end).spans).toEqual([{ text: 'two', classes: 'ansi-fg-1' }]);
    expect(styleAfter('\x1b[0mthree', first.end)).toEqual({});
    expect(styleAfter('three', first.end)).toBe(first.end);
  });
});

describe('other sequences are removed, and text is kept', () => {
  it.each([
    ['title', 'a\x1b]0;owned\x07b', 'ab'],
    ['title, ST', 'a\x1b]2;owned\x1b\\b', 'ab'],
    ['clipboard', 'a\x1b]52;c;aGVsbG8=\x07b', 'ab'],
    ['link', '\x1b]8;;http://evil.example\x07here\x1b]8;;\x07', 'here'],
    ['cursor', 'a\x1b[2J\x1b[1;1Hb', 'ab'],
    ['mode', '\x1b[?1049ha\x1b[?25lb', 'ab'],
    ['private m', '\x1b[>4;2ma', 'a'],
    ['query', '\x1b[6na\x1b[cb', 'ab'],
    ['DCS', 'a\x1bP+q544e\x1b\\b', 'ab'],
    ['APC, PM, SOS', 'a\x1b_x\x1b\\b\x1b^x\x1b\\c\x1bXx\x1b\\d', 'abcd'],
    ['charset', 'a\x1b(0b', 'ab'],
    ['reset', 'a\x1bcb', 'ab'],
    ['C1 OSC', 'a\x9d0;x\x9cb', 'ab'],
    ['unterminated OSC hides nothing', 'a\x1b]0;the rest', 'a0;the rest'],
    ['unterminated CSI', 'a\x1b[31', 'a'],
    ['lone ESC at the end', 'a\x1b', 'a'],
    ['conceal hides nothing', '\x1b[8msecret', 'secret'],
    ['backspace is shown', 'rm\b\bls', 'rm␈␈ls'],
    ['carriage return is shown', 'safe\revil', 'safe␍evil'],
    ['NUL and DEL are shown', 'a\x00b\x7f', 'a␀b␡'],
    ['tab stays', 'a\tb', 'a\tb'],
    ['markup is text', '<img src=x onerror=alert(1)>', '<img src=x onerror=alert(1)>'],
    ['bidi is shown', 'user\u202egnp.exe', 'user⟦RLO⟧gnp.exe'],
    ['isolates are shown', '\u2066a\u2069', '⟦LRI⟧a⟦PDI⟧'],
    ['zero width is shown', 'pay\u200bpal', 'pay⟦ZWSP⟧pal'],
    ['emoji and Chinese stay', '✓ 完成 🎉', '✓ 完成 🎉'],
  ])('%s', (_name, line, want) => expect(text(line)).toBe(want));

  it('never leaves an escape character', () => {
    let seed = 7;
    const random = () => (seed = (seed * 1103515245 + 12345) % 2147483648) / 2147483648;
    const alphabet = ['\x1b', '[', ']', ';', '3', '1', 'm', '\x07', '\\', 'P', 'a', '\x9b', '\x9d', '\x9c', '?', ' ', '<', '\u202e'];
    for (let n = 0; n < 5000; n++) {
      const line = Array.from({ length: 12 }, () => alphabet[Math.floor(random() * alphabet.length)]).join('');
      const spans = parseLine(line).spans;
      expect(spans.every((s) => !/[\x00-\x08\x0a-\x1f\x7f-\x9f\u202e]/.test(s.text) && /^(ansi-[a-z0-9-]+ ?)*$/.test(s.classes))).toBe(true);
    }
  });
});

it('formats a style as a sequence that parses to it', () => {
  for (const codes of ['1;3;4', '31;44', '97;100', '7;9;2', '38;2;1;2;3;48;5;200']) {
    const style = applySgr(plain, codes);
    expect(styleAfter(sgrOf(style), { fg: 3, bold: true })).toEqual(style);
  }
});

it('converts a line to its visible text', () => expect(plainText('\x1b[31mred\x1b[0m \x1b]0;title\x07\u202ex\x9b1my')).toBe('red ⟦RLO⟧xy'));

it('handles many unterminated introducers quickly', () => {
  const began = performance.now();
  for (const introducer of ['\x9d', '\x90', '\x1b]', '\x9b', '\x1b[', '\x9dx']) expect(plainText(introducer.repeat(100_000)).replaceAll('x', '')).toBe('');
  // An implementation that scans the rest of the line for each sequence takes minutes.
  expect(performance.now() - began).toBeLessThan(10_000);
});
