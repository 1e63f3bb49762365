// Terminal output as text with colours. Of all escape sequences only SGR (colours and weights) has an effect, and only as
// class names; every other sequence (titles, clipboard, links, cursor, modes) is dropped without being interpreted.
// Text is never dropped: a string sequence without its terminator loses its introducer only, so that output cannot hide
// what follows it. Conceal (SGR 8) is ignored for the same reason.

import { visible } from './visible.ts';

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
}

export const plain: Style = {};

// 7-bit and 8-bit forms: CSI; strings (OSC, DCS, SOS, PM, APC) up to BEL or ST on the same line; a lone string
// introducer; two-byte and charset escapes; a lone ESC.
const escape =
  /(?:\u001b\[|\u009b)([0-?]*)([ -/]*)([@-~])|(?:\u001b[\]PX^_]|[\u009d\u0090\u0098\u009e\u009f])[^\u0007\u001b\u009c]*(?:\u0007|\u001b\\|\u009c)|\u001b[\]PX^_]|[\u009d\u0090\u0098\u009e\u009f]|(?:\u001b\[|\u009b)[0-?]*[ -/]*|\u001b[ -/]*[0-~]|\u001b/g;

export function classesOf(style: Style): string {
  const names: string[] = [];
  const fg = style.inverse ? style.bg : style.fg;
  const bg = style.inverse ? style.fg : style.bg;
  if (style.inverse && style.fg === undefined && style.bg === undefined) names.push('ansi-inverse');
  if (fg !== undefined) names.push(`ansi-fg-${fg}`);
  if (bg !== undefined) names.push(`ansi-bg-${bg}`);
  if (style.bold) names.push('ansi-bold');
  if (style.dim) names.push('ansi-dim');
  if (style.italic) names.push('ansi-italic');
  if (style.underline) names.push('ansi-underline');
  if (style.strike) names.push('ansi-strike');
  return names.join(' ');
}

// The sixteen colours as red, green, blue: what 256 and true colour are reduced to.
const palette: readonly (readonly [number, number, number])[] = [
  [0, 0, 0], [170, 0, 0], [0, 170, 0], [170, 85, 0], [0, 0, 170], [170, 0, 170], [0, 170, 170], [170, 170, 170],
  [85, 85, 85], [255, 85, 85], [85, 255, 85], [255, 255, 85], [85, 85, 255], [255, 85, 255], [85, 255, 255], [255, 255, 255],
];

function nearest(r: number, g: number, b: number): number {
  let best = 0;
  let least = Infinity;
  palette.forEach(([pr, pg, pb], i) => {
    const d = (r - pr) ** 2 + (g - pg) ** 2 + (b - pb) ** 2;
    if (d < least) {
      least = d;
      best = i;
    }
  });
  return best;
}

function fromIndex(n: number): number | undefined {
  if (!(n >= 0 && n <= 255)) return undefined;
  if (n < 16) return n;
  if (n >= 232) {
    const grey = 8 + (n - 232) * 10;
    return nearest(grey, grey, grey);
  }
  const level = (v: number) => (v === 0 ? 0 : 55 + v * 40);
  const cube = n - 16;
  return nearest(level(Math.floor(cube / 36)), level(Math.floor(cube / 6) % 6), level(cube % 6));
}

function applySgr(style: Style, params: string): Style {
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
        colour = nearest(codes[i + 2] ?? 0, codes[i + 3] ?? 0, codes[i + 4] ?? 0);
        i += 4;
      }
      if (c === 38) next.fg = colour;
      else next.bg = colour;
    }
  }
  return next;
}

/** Parses one line, in the style that the line before it left; returns its spans and the style that it leaves. */
export function parseLine(line: string, start: Style = plain): { spans: Span[]; end: Style } {
  const spans: Span[] = [];
  let style = start;
  let from = 0;
  const push = (to: number) => {
    if (to > from) spans.push({ text: visible(line.slice(from, to)), classes: classesOf(style) });
  };
  for (const match of line.matchAll(escape)) {
    push(match.index);
    from = match.index + match[0].length;
    const [, params, intermediates, final] = match;
    if (final === 'm' && intermediates === '' && params !== undefined && /^[0-9;:]*$/.test(params)) style = applySgr(style, params);
  }
  push(line.length);
  return { spans, end: style };
}

/** The style that a line leaves, without building its spans. */
export function styleAfter(line: string, start: Style): Style {
  return line.includes('\u001b') || line.includes('\u009b') ? parseLine(line, start).end : start;
}
