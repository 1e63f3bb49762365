// The visible time span, and panning and zooming. Times are milliseconds.

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

/** Returns the position of a time within a width. */
export const xOf = (span: Span, width: number, at: number) => ((at - span.from) / lengthOf(span)) * width;

/** Returns the time at a position. */
export const timeAt = (span: Span, width: number, x: number) => span.from + (x / width) * lengthOf(span);

/**
 * Zooms in with a factor below one, out with one above; the time at the anchor, a share of the width, keeps its
 * position.
 */
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

/** Lengths of the presets. Two thirds are in the past. */
export const presets = { '1h': hour, '6h': 6 * hour, '24h': day, '3d': 3 * day } as const;
export type Preset = keyof typeof presets;
const behind = 2 / 3;

/**
 * Returns the span of a preset. It follows the clock in steps, so that the view does not crawl: between them only the
 * line of now moves.
 */
export function presetSpan(preset: Preset, now: number): Span {
  const length = presets[preset];
  const step = length / 60;
  const from = Math.floor((now - length * behind) / step) * step;
  return { from, to: from + length };
}

/** Returns a span of the same length with now at the position of a preset. */
export function aroundNow(span: Span, now: number): Span {
  const from = Math.round(now - lengthOf(span) * behind);
  return { from, to: from + lengthOf(span) };
}

/**
 * Returns the range to load for a span: with a margin on both sides, aligned to steps, so that small pans need no
 * request.
 */
export function fetchSpan(span: Span): Span {
  const step = 2 ** Math.floor(Math.log2(lengthOf(span) / 8));
  return { from: Math.floor(span.from / step - 1) * step, to: Math.ceil(span.to / step + 1) * step };
}

/** Parses a span from the address: both ends or none. */
export function spanOfText(from: string | undefined, to: string | undefined): Span | undefined {
  const span = { from: Date.parse(from ?? ''), to: Date.parse(to ?? '') };
  if (Number.isNaN(span.from) || Number.isNaN(span.to) || span.to <= span.from) return undefined;
  return lengthOf(span) > longest || lengthOf(span) < shortest ? zoom(span, 1) : span;
}

export const isoOf = (at: number) => new Date(Math.round(at / second) * second).toISOString().replace('.000Z', 'Z');

/** Returns the action of a key anywhere on the page; arrow keys belong to the focused element. */
export function spanForKey(key: string, span: Span, now: number): Span | undefined {
  if (key === '+' || key === '=') return zoom(span, 0.6);
  if (key === '-') return zoom(span, 1 / 0.6);
  if (key === 't') return aroundNow(span, now);
  return undefined;
}

/** Returns the span around a column of the strip, short enough to show its bars. */
export const spanAround = (at: number, column: number): Span => {
  const length = Math.min(6 * hour, Math.max(10 * minute, column * 6));
  return { from: at + column / 2 - length / 2, to: at + column / 2 + length / 2 };
};
