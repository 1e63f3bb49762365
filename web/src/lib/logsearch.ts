// Searches the loaded lines in parts, so that a page with a million lines stays responsive.

import { plainText } from './ansi.ts';
import { mark } from './logline.ts';
import { textOf, type Block, type LogStore } from './logstore.ts';
import { native, patternOf, type Pattern } from './regex/pattern.ts';

export interface Wanted {
  text: string;
  regex: boolean;
  matchCase: boolean;
}

/** Matches beyond this number are not counted. */
export const mostMatches = 100_000;

/** Compiles a search; returns an error for an empty one, or one that might take exponential time. */
export function compile({ text, regex, matchCase }: Wanted): Pattern | 'empty' | 'invalid' | 'explosive' {
  if (text === '') return 'empty';
  const pattern = regex ? patternOf(text, matchCase) : native(new RegExp(text.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&'), matchCase ? 'g' : 'gi'));
  if (typeof pattern === 'string') return pattern === 'unknown' ? 'explosive' : pattern;
  return pattern.find('', 0) ? 'empty' : pattern;
}

/** Start and end of a match within the displayed line. */
export function placesIn(line: string, pattern: Pattern): [number, number][] {
  const places: [number, number][] = [];
  for (let found = pattern.find(line, 0); found; ) {
    const [begin, end] = found;
    if (end > begin) places.push(found);
    if (places.length > 1000 || end >= line.length) break;
    found = pattern.find(line, end > begin ? end : end + 1);
  }
  return places;
}

export class LogSearch {
  readonly pattern: Pattern;
  readonly #store: LogStore;
  readonly #shown: (marks: number) => boolean;
  /** Ids of lines with matches, in order, and the number of matches of each. */
  lines: number[] = [];
  counts: number[] = [];
  total = 0;
  #searched: number;
  #from: number;

  constructor(store: LogStore, pattern: Pattern, shown: (marks: number) => boolean) {
    this.#store = store;
    this.pattern = pattern;
    this.#shown = shown;
    this.#from = store.first;
    this.#searched = store.first;
  }

  /** Searches for so many milliseconds; reports whether all loaded output has been searched. */
  step(ms: number): boolean {
    if (this.#store.first !== this.#from) this.#again();
    const end = this.#store.endFinished;
    const deadline = performance.now() + ms;
    for (const { first, block } of this.#store.blocks(this.#searched)) {
      if (performance.now() > deadline) return false;
      if (this.total >= mostMatches) return true;
      this.#searchBlock(first, block, end);
    }
    return true;
  }

  /** Returns the next or previous match from a position, and its number. */
  next(from: { line: number; nth: number } | undefined, back: boolean): { line: number; nth: number } | undefined {
    if (this.lines.length === 0) return undefined;
    if (!from) return back ? this.#last(this.lines.length - 1) : { line: this.lines[0] ?? 0, nth: 0 };
    const i = this.#indexOf(from.line);
    const here = this.lines[i] === from.line;
    if (back) {
      if (here && from.nth > 0) return { line: from.line, nth: from.nth - 1 };
      return this.#last((i - 1 + this.lines.length) % this.lines.length);
    }
    if (here && from.nth + 1 < (this.counts[i] ?? 0)) return { line: from.line, nth: from.nth + 1 };
    return { line: this.lines[(i + (here ? 1 : 0)) % this.lines.length] ?? 0, nth: 0 };
  }

  /** Returns the number of this match among all, from 1; 0 if it is none. */
  rank(of: { line: number; nth: number }): number {
    const i = this.#indexOf(of.line);
    if (this.lines[i] !== of.line) return 0;
    let before = 0;
    for (let n = 0; n < i; n++) before += this.counts[n] ?? 0;
    return before + of.nth + 1;
  }

  #last(i: number): { line: number; nth: number } {
    return { line: this.lines[i] ?? 0, nth: (this.counts[i] ?? 1) - 1 };
  }

  #indexOf(line: number): number {
    let low = 0;
    let high = this.lines.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((this.lines[middle] ?? 0) < line) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  // Lines were prepended or dropped: matches in remaining lines are kept, new lines at the front are searched first.
  #again(): void {
    this.#from = this.#store.first;
    this.#searched = this.#store.first;
    this.lines = [];
    this.counts = [];
    this.total = 0;
  }

  #searchBlock(first: number, block: Block, end: number): void {
    for (let i = Math.max(0, this.#searched - first); i < block.count; i++) {
      const marks = block.marks[i] ?? 0;
      const name = first + i;
      // Unfinished lines may change; they are searched when they are finished.
      if (name >= end) return;
      this.#searched = name + 1;
      if ((marks & mark.hole) !== 0 || !this.#shown(marks)) continue;
      const places = placesIn(plainText(textOf(block, i)), this.pattern).length;
      if (places === 0) continue;
      this.lines.push(name);
      this.counts.push(places);
      this.total += places;
    }
  }
}
