// Looks for text in the lines that are here, a part at a time, so that a page with a million of them stays alive.

import { plainText } from './ansi.ts';
import { mark } from './logline.ts';
import { textOf, type Block, type LogStore } from './logstore.ts';
import { native, patternOf, type Pattern } from './regex/pattern.ts';

export interface Wanted {
  text: string;
  regex: boolean;
  matchCase: boolean;
}

/** More than these are not counted. */
export const mostMatches = 100_000;

/** What finds what is wanted; says so where there is nothing, or where looking for it might take for ever. */
export function compile({ text, regex, matchCase }: Wanted): Pattern | 'empty' | 'invalid' | 'explosive' {
  if (text === '') return 'empty';
  const pattern = regex ? patternOf(text, matchCase) : native(new RegExp(text.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&'), matchCase ? 'g' : 'gi'));
  if (typeof pattern === 'string') return pattern === 'unknown' ? 'explosive' : pattern;
  return pattern.find('', 0) ? 'empty' : pattern;
}

/** Places within one line, as it is shown, from the first to behind the last character. */
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
  /** Names of lines with matches, in order, and how many matches each has. */
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

  /** The match behind, or before, a place; which of how many it is. */
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

  /** Which of all matches this one is, counted from 1; 0 where it is none. */
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

  // Lines were put before, or given up: what was found of those that are left stands, what is new in front is searched first.
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
      // What is not finished may change; it is searched when it is.
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
