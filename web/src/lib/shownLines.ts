import { mark, type Stream } from './logline.ts';
import type { LogStore } from './logstore.ts';

/** Returns the lines shown when only one stream is selected; gaps are always shown. */
export function shows(only: Stream | undefined): (marks: number) => boolean {
  return (marks) => only === undefined || (marks & mark.hole) !== 0 || (marks & mark.known) === 0 || ((marks & mark.stderr) !== 0) === (only === 'stderr');
}

/** The shown lines as rows. */
export class ShownLines {
  readonly #store: LogStore;
  readonly #shown: ((marks: number) => boolean) | undefined;
  #names: number[] = [];
  #finished = 0;
  #seen: number;
  #first: number;

  constructor(store: LogStore, only: Stream | undefined) {
    this.#store = store;
    this.#shown = only === undefined ? undefined : shows(only);
    this.#first = store.first;
    this.#seen = store.first;
  }

  /** Adds new lines; returns the first row that may have changed. */
  update(): number {
    const { first, end, endFinished } = this.#store;
    const moved = first !== this.#first;
    this.#first = first;
    if (!this.#shown) return moved ? 0 : Infinity;
    if (moved) {
      this.#finished = 0;
      this.#seen = first;
    }
    const from = this.#finished;
    this.#names.length = from;
    for (let name = this.#seen; name < end; name++) if (this.#shown(this.#store.marks(name))) this.#names.push(name);
    let finished = this.#names.length;
    while (finished > 0 && (this.#names[finished - 1] ?? 0) >= endFinished) finished--;
    this.#finished = finished;
    this.#seen = endFinished;
    return from;
  }

  /** Every line is a row. */
  get all(): boolean {
    return this.#shown === undefined;
  }

  get count(): number {
    return this.#shown ? this.#names.length : this.#store.count;
  }

  name(row: number): number {
    return this.#shown ? (this.#names[row] ?? this.#store.end) : this.#store.first + row;
  }

  /** Returns the row of a line, or of the next shown line. */
  row(name: number): number {
    if (!this.#shown) return Math.min(Math.max(0, name - this.#store.first), Math.max(0, this.count - 1));
    let low = 0;
    let high = Math.max(0, this.#names.length - 1);
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((this.#names[middle] ?? 0) < name) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}
