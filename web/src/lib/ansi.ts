// Terminal output as text with colours. Of all escape sequences only SGR (colours and weights) has an effect, as
// class names and colour values; every other sequence (titles, clipboard, links, cursor, modes) is dropped without being interpreted.
// Text is never dropped: a string sequence without its terminator loses its introducer only, so that output cannot hide
// what follows it. Conceal (SGR 8) is ignored for the same reason.

import { visible } from './visible.ts';

/** Colours 0 to 15 belong to the theme; from `rgb` on they are red, green and blue values. */
export interface Style {
  fg?: number;
  bg?: number;
  bold?: boolean;
  dim?: boolean;
  italic?: boolean;
  underline?: boolean;
  strike?: boolean;
  inverse?: boolean;
}

export interface Span {
  text: string;
  classes: string;
  /** Colours beyond the first sixteen, such as #ff8800. The style sheet adjusts their lightness for both themes. */
  fg?: string;
  bg?: string;
}

const rgb = 0x1000000;

export const plain: Style = {};

// 7-bit and 8-bit forms: CSI; strings (OSC, DCS, SOS, PM, APC) up to BEL or ST on the same line, and no further than
// the next introducer, since scanning to the end of the line for each unterminated one would be quadratic; a lone
// string introducer; two-byte and charset escapes; a lone ESC.
const escape =
  /(?:\u001b\[|\u009b)([0-?]*)([ -/]*)([@-~])|(?:\u001b[\]PX^_]|[\u009d\u0090\u0098\u009e\u009f])[^\u0007\u001b\u009c\u009d\u0090\u0098\u009e\u009f]*(?:\u0007|\u001b\\|\u009c)|\u001b[\]PX^_]|[\u009d\u0090\u0098\u009e\u009f]|(?:\u001b\[|\u009b)[0-?]*[ -/]*|\u001b[ -/]*[0-~]|\u001b/g;

export function classesOf(style: Style): string {
  const names: string[] = [];
  const fg = style.inverse ? style.bg : style.fg;
  const bg = style.inverse ? style.fg : style.bg;
  if (style.inverse && style.fg === undefined && style.bg === undefined) names.push('ansi-inverse');
  if (fg !== undefined) names.push(`ansi-fg-${fg >= rgb ? 'rgb' : fg}`);
  if (bg !== undefined) names.push(`ansi-bg-${bg >= rgb ? 'rgb' : bg}`);
  if (style.bold) names.push('ansi-bold');
  if (style.dim) names.push('ansi-dim');
  if (style.italic) names.push('ansi-italic');
  if (style.underline) names.push('ansi-underline');
  if (style.strike) names.push('ansi-strike');
  return names.join(' ');
}

function colourOf(r: number, g: number, b: number): number {
  const byte = (n: number) => Math.min(255, Math.max(0, Math.trunc(n) || 0));
  return rgb + byte(r) * 0x10000 + byte(g) * 0x100 + byte(b);
}

function fromIndex(n: number): number | undefined {
  if (!(n >= 0 && n <= 255)) return undefined;
  if (n < 16) return n;
  if (n >= 232) {
    const grey = 8 + (n - 232) * 10;
    return colourOf(grey, grey, grey);
  }
  const level = (v: number) => (v === 0 ? 0 : 55 + v * 40);
  const cube = n - 16;
  return colourOf(level(Math.floor(cube / 36)), level(Math.floor(cube / 6) % 6), level(cube % 6));
}

function hex(colour: number | undefined): string | undefined {
  return colour !== undefined && colour >= rgb ? `#${(colour - rgb).toString(16).padStart(6, '0')}` : undefined;
}

export function applySgr(style: Style, params: string): Style {
  const codes = params.split(/[;:]/).map((p) => (p === '' ? 0 : Number(p)));
  let next: Style = { ...style };
  for (let i = 0; i < codes.length; i++) {
    const c = codes[i] ?? 0;
    if (c === 0) next = {};
    else if (c === 1) next.bold = true;
    else if (c === 2) next.dim = true;
    else if (c === 3) next.italic = true;
    else if (c === 4) next.underline = true;
    else if (c === 7) next.inverse = true;
    else if (c === 9) next.strike = true;
    else if (c === 22) next = { ...next, bold: undefined, dim: undefined };
    else if (c === 23) next.italic = undefined;
    else if (c === 24) next.underline = undefined;
    else if (c === 27) next.inverse = undefined;
    else if (c === 29) next.strike = undefined;
    else if (c >= 30 && c <= 37) next.fg = c - 30;
    else if (c >= 40 && c <= 47) next.bg = c - 40;
    else if (c >= 90 && c <= 97) next.fg = c - 82;
    else if (c >= 100 && c <= 107) next.bg = c - 92;
    else if (c === 39) next.fg = undefined;
    else if (c === 49) next.bg = undefined;
    else if (c === 38 || c === 48) {
      let colour: number | undefined;
      if (codes[i + 1] === 5) {
        colour = fromIndex(codes[i + 2] ?? -1);
        i += 2;
      } else if (codes[i + 1] === 2) {
        colour = colourOf(codes[i + 2] ?? 0, codes[i + 3] ?? 0, codes[i + 4] ?? 0);
        i += 4;
      }
      if (c === 38) next.fg = colour;
      else next.bg = colour;
    }
  }
  return next;
}

/** Splits a line into text and SGR sequences; drops everything else. */
export function* tokens(line: string): Generator<{ text: string } | { sgr: string } | { erase: true }> {
  let from = 0;
  for (const match of line.matchAll(escape)) {
    if (match.index > from) yield { text: line.slice(from, match.index) };
    from = match.index + match[0].length;
    const [, params, intermediates, final] = match;
    if (intermediates !== '' || params === undefined) continue;
    if (final === 'm' && /^[0-9;:]*$/.test(params)) yield { sgr: params };
    else if (final === 'K') yield { erase: true };
  }
  if (from < line.length) yield { text: line.slice(from) };
}

/** Parses one line in the style that the previous line ended in; returns its spans and the style at its end. */
export function parseLine(line: string, start: Style = plain): { spans: Span[]; end: Style } {
  const spans: Span[] = [];
  let style = start;
  for (const token of tokens(line)) {
    if ('sgr' in token) style = applySgr(style, token.sgr);
    if (!('text' in token)) continue;
    const [fg, bg] = style.inverse ? [style.bg, style.fg] : [style.fg, style.bg];
    spans.push({ text: visible(token.text), classes: classesOf(style), fg: hex(fg), bg: hex(bg) });
  }
  return { spans, end: style };
}

/** Returns the style at the end of a line without building its spans. */
export function styleAfter(line: string, start: Style): Style {
  if (!hasEscapes(line)) return start;
  let style = start;
  for (const token of tokens(line)) if ('sgr' in token) style = applySgr(style, token.sgr);
  return style;
}

export function hasEscapes(text: string): boolean {
  return text.includes('\u001b') || /[\u0080-\u009f]/.test(text);
}

/** Returns a line as plain text, with invisible characters shown. */
export function plainText(line: string): string {
  if (!hasEscapes(line)) return visible(line);
  let text = '';
  for (const token of tokens(line)) if ('text' in token) text += token.text;
  return visible(text);
}

/** Returns the sequence that sets this style, independent of the current one. */
export function sgrOf(style: Style): string {
  const codes: number[] = [0];
  const flags: [boolean | undefined, number][] = [[style.bold, 1], [style.dim, 2], [style.italic, 3], [style.underline, 4], [style.inverse, 7], [style.strike, 9]];
  for (const [on, code] of flags) if (on) codes.push(code);
  const colour = (c: number | undefined, base: number) => {
    if (c === undefined) return;
    if (c < rgb) codes.push(c < 8 ? base + c : base + 52 + c);
    else codes.push(base + 8, 2, (c >> 16) & 255, (c >> 8) & 255, c & 255);
  };
  colour(style.fg, 30);
  colour(style.bg, 40);
  return `\u001b[${codes.join(';')}m`;
}
