// Heights and positions of the rows of a long list: estimated first, measured once rendered.

const group = 256;

export class RowHeights {
  #heights = new Uint16Array(1024);
  #groups: number[] = [];
  // Cumulative heights of blocks, as far as computed.
  #tops: number[] = [0];
  count = 0;
  total = 0;

  push(height: number): void {
    if (this.count === this.#heights.length) {
      const grown = new Uint16Array(this.count * 2);
      grown.set(this.#heights);
      this.#heights = grown;
    }
    const at = Math.floor(this.count / group);
    this.#heights[this.count++] = height;
    this.#groups[at] = (this.#groups[at] ?? 0) + height;
    this.total += height;
  }

  /** Removes all rows from this one on. */
  cut(count: number): void {
    while (this.count > count) {
      const height = this.#heights[--this.count] ?? 0;
      this.#groups[Math.floor(this.count / group)] = (this.#groups[Math.floor(this.count / group)] ?? 0) - height;
      this.total -= height;
    }
    this.#groups.length = Math.ceil(this.count / group);
    this.#tops.length = Math.min(this.#tops.length, Math.max(1, this.#groups.length));
  }

  get(row: number): number {
    return this.#heights[row] ?? 0;
  }

  /** Sets the measured height of a row; returns the difference from the previous value. */
  set(row: number, height: number): number {
    const differs = Math.round(height) - this.get(row);
    if (row >= this.count || differs === 0) return 0;
    this.#heights[row] = Math.round(height);
    const at = Math.floor(row / group);
    this.#groups[at] = (this.#groups[at] ?? 0) + differs;
    this.#tops.length = Math.min(this.#tops.length, at + 1);
    this.total += differs;
    return differs;
  }

  /** Returns the position of a row. */
  top(row: number): number {
    const at = Math.floor(row / group);
    let top = this.#topOf(at);
    for (let i = at * group; i < row; i++) top += this.#heights[i] ?? 0;
    return top;
  }

  /** Returns the row at a position; the last one if it is beyond all. */
  at(place: number): number {
    let low = 0;
    let high = Math.max(0, this.#groups.length - 1);
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (this.#topOf(middle) <= place) low = middle;
      else high = middle - 1;
    }
    let top = this.#topOf(low);
    let row = low * group;
    while (row < this.count - 1 && top + (this.#heights[row] ?? 0) <= place) top += this.#heights[row++] ?? 0;
    return Math.max(0, row);
  }

  #topOf(at: number): number {
    while (this.#tops.length <= at) this.#tops.push((this.#tops.at(-1) ?? 0) + (this.#groups[this.#tops.length - 1] ?? 0));
    return this.#tops[at] ?? 0;
  }
}
