import { useReducer, useRef } from 'react';
import type { Stream } from '../../lib/logline.ts';
import type { LogStore } from '../../lib/logstore.ts';
import { RowHeights } from '../../lib/rowheights.ts';
import { ShownLines } from '../../lib/shownLines.ts';

export const rowHeight = 20;
/** Browsers limit the height of an element; beyond it, a pixel of the scroll bar represents more than one. */
const mostPixels = 15_000_000;

/**
 * The rows of a log with their positions. Unwrapped rows have the same height; heights of wrapped ones are estimated
 * from the length until they are rendered.
 */
export class Rows {
  readonly shown: ShownLines;
  readonly store: LogStore;
  readonly columns: number;
  readonly #heights: RowHeights | undefined;

  /** Columns is the number of characters per wrapped line; 0 without wrapping. */
  constructor(store: LogStore, only: Stream | undefined, columns: number) {
    this.store = store;
    this.columns = columns;
    this.shown = new ShownLines(store, only);
    this.#heights = columns > 0 ? new RowHeights() : undefined;
  }

  /** Adds new lines. */
  update(): void {
    const from = this.shown.update();
    const heights = this.#heights;
    if (!heights) return;
    // Unfinished lines have grown.
    heights.cut(Math.min(from, heights.count, Math.max(0, this.shown.row(this.store.endFinished))));
    const push = (length: number) => heights.push(Math.max(1, Math.ceil(length / this.columns)) * rowHeight);
    if (this.shown.all) this.store.lengths(this.store.first + heights.count, push);
    else for (let row = heights.count; row < this.shown.count; row++) push(this.store.length(this.shown.name(row)));
    heights.cut(this.shown.count);
  }

  get total(): number {
    return this.#heights?.total ?? this.shown.count * rowHeight;
  }

  top(row: number): number {
    return this.#heights?.top(row) ?? row * rowHeight;
  }

  at(place: number): number {
    return this.#heights?.at(place) ?? Math.max(0, Math.min(this.shown.count - 1, Math.floor(place / rowHeight)));
  }

  measured(row: number, height: number): number {
    return this.#heights?.set(row, height) ?? 0;
  }

  get pixels(): number {
    return Math.min(this.total, mostPixels);
  }

  /** Converts between the scroll bar's position and the position in the rows. */
  place(scroll: number, room: number): number {
    return this.total <= mostPixels ? scroll : (scroll * (this.total - room)) / (mostPixels - room);
  }

  scroll(place: number, room: number): number {
    return this.total <= mostPixels ? place : (place * (mostPixels - room)) / (this.total - room);
  }
}

/** The rows of the shown lines, rebuilt when the filter, the wrapping or the width changes. */
export function useRows(store: LogStore, only: Stream | undefined, columns: number): Rows {
  const rows = useRef<{ rows: Rows; only: Stream | undefined } | undefined>(undefined);
  if (rows.current?.rows.store !== store || rows.current.only !== only || rows.current.rows.columns !== columns) {
    rows.current = { rows: new Rows(store, only, columns), only };
  }
  rows.current.rows.update();
  return rows.current.rows;
}

export function useRedraw(): () => void {
  return useReducer((n: number) => n + 1, 0)[1];
}
