// A stretch of time that is looked at, and how one moves in it. Times are milliseconds.

export interface Span {
  from: number;
  to: number;
}

export const second = 1000;
export const minute = 60 * second;
export const hour = 60 * minute;
export const day = 24 * hour;

const shortest = 2 * minute;
const longest = 14 * day;

export const lengthOf = (span: Span) => span.to - span.from;

/** Where a time stands in a width. */
export const xOf = (span: Span, width: number, at: number) => ((at - span.from) / lengthOf(span)) * width;

/** Which time stands at a place. */
export const timeAt = (span: Span, width: number, x: number) => span.from + (x / width) * lengthOf(span);

/** Nearer with a factor below one, further with one above; the time at the anchor, a share of the width, stays where it is. */
export function zoom(span: Span, factor: number, anchor = 0.5): Span {
  const length = Math.min(longest, Math.max(shortest, lengthOf(span) * factor));
  const fixed = span.from + lengthOf(span) * anchor;
  const from = Math.round(fixed - length * anchor);
  return { from, to: from + Math.round(length) };
}

export function pan(span: Span, by: number): Span {
  const ms = Math.round(by);
  return { from: span.from + ms, to: span.to + ms };
}

/** What the buttons offer. Two thirds of it have been, one third is to come. */
export const presets = { '1h': hour, '6h': 6 * hour, '24h': day, '3d': 3 * day } as const;
export type Preset = keyof typeof presets;
const behind = 2 / 3;

/** The span of a preset. It follows the clock in steps, so that what is shown does not crawl: between them it is the line of now that moves. */
export function presetSpan(preset: Preset, now: number): Span {
  const length = presets[preset];
  const step = length / 60;
  const from = Math.floor((now - length * behind) / step) * step;
  return { from, to: from + length };
}

/** The same length, with now where a preset would have it. */
export function aroundNow(span: Span, now: number): Span {
  const from = Math.round(now - lengthOf(span) * behind);
  return { from, to: from + lengthOf(span) };
}

/** The stretch to fetch for a span: a little more than it on both sides, on steps, so that moving a bit asks for nothing new. */
export function fetchSpan(span: Span): Span {
  const step = 2 ** Math.floor(Math.log2(lengthOf(span) / 8));
  return { from: Math.floor(span.from / step - 1) * step, to: Math.ceil(span.to / step + 1) * step };
}

/** A span as the address has it, both ends or none. */
export function spanOfText(from: string | undefined, to: string | undefined): Span | undefined {
  const span = { from: Date.parse(from ?? ''), to: Date.parse(to ?? '') };
  if (Number.isNaN(span.from) || Number.isNaN(span.to) || span.to <= span.from) return undefined;
  return lengthOf(span) > longest || lengthOf(span) < shortest ? zoom(span, 1) : span;
}

export const isoOf = (at: number) => new Date(Math.round(at / second) * second).toISOString().replace('.000Z', 'Z');

/** What a key asks for wherever it is pressed on the page; the arrows belong to whatever has the focus. */
export function spanForKey(key: string, span: Span, now: number): Span | undefined {
  if (key === '+' || key === '=') return zoom(span, 0.6);
  if (key === '-') return zoom(span, 1 / 0.6);
  if (key === 't') return aroundNow(span, now);
  return undefined;
}

/** The stretch around a column of the strip: near enough to tell what is in it. */
export const spanAround = (at: number, column: number): Span => {
  const length = Math.min(6 * hour, Math.max(10 * minute, column * 6));
  return { from: at + column / 2 - length / 2, to: at + column / 2 + length / 2 };
};
