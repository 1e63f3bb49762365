// Which rows of a long list are to exist. All rows are equally high, so that where each stands is known without those before it.

export interface RowWindow {
  first: number;
  /** The one after the last. */
  end: number;
}

/** How many rows the window moves at a time, so that not every pixel of a scroll renders. */
const step = 4;

/** The rows between two heights, counted in pixels from the top of the list, with some more on either side. */
export function windowOf(top: number, bottom: number, rowHeight: number, count: number, more: number): RowWindow {
  const first = Math.floor(Math.max(0, top) / rowHeight) - more;
  const end = Math.ceil(Math.max(0, bottom) / rowHeight) + more;
  const clamp = (row: number) => Math.min(count, Math.max(0, row));
  return { first: clamp(Math.floor(first / step) * step), end: clamp(Math.ceil(end / step) * step) };
}

/** The pages of a list that rows are on. */
export function pagesOf({ first, end }: RowWindow, size: number): number[] {
  if (end <= first) return [];
  const from = Math.floor(first / size);
  return Array.from({ length: Math.floor((end - 1) / size) - from + 1 }, (_, i) => from + i);
}
