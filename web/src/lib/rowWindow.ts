// Computes the rendered rows of a long list. All rows have the same height, so positions need no measurement.

export interface RowWindow {
  first: number;
  /** Exclusive. */
  end: number;
}

/** The window moves in steps of this many rows, so that not every pixel of scrolling renders. */
const step = 4;

/** Returns the rows between two heights, in pixels from the top of the list, with a margin on both sides. */
export function windowOf(top: number, bottom: number, rowHeight: number, count: number, more: number): RowWindow {
  const first = Math.floor(Math.max(0, top) / rowHeight) - more;
  const end = Math.ceil(Math.max(0, bottom) / rowHeight) + more;
  const clamp = (row: number) => Math.min(count, Math.max(0, row));
  return { first: clamp(Math.floor(first / step) * step), end: clamp(Math.ceil(end / step) * step) };
}

/** Returns the pages of a list that contain these rows. */
export function pagesOf({ first, end }: RowWindow, size: number): number[] {
  if (end <= first) return [];
  const from = Math.floor(first / size);
  return Array.from({ length: Math.floor((end - 1) / size) - from + 1 }, (_, i) => from + i);
}
