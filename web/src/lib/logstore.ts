// A compact store of output lines: a million lines are a few strings and arrays of numbers, not a million objects. A
// line's id does not change when earlier lines are prepended or the oldest are dropped.

import { hasEscapes, plain, styleAfter, type Style } from './ansi.ts';
import { mark, type LogLine, type Stream } from './logline.ts';

const blockLines = 512;
const blockChars = 64 * 1024;

/** A block of lines that will not change any more. */
export interface Block {
  /** The lines, joined by newlines. */
  text: string;
  /** Start of each line in the text, and of the next one. */
  starts: Uint32Array;
  marks: Uint8Array;
  at: Float64Array;
  offsets: Float64Array;
  count: number;
  /** Number of lines with a line number. */
  numbered: number;
  escapes: boolean;
}

const numbered = (marks: number) => (marks & (mark.goesOn | mark.hole)) === 0;

function sealed(lines: readonly LogLine[]): Block {
  const starts = new Uint32Array(lines.length + 1);
  lines.forEach((line, i) => (starts[i + 1] = (starts[i] ?? 0) + line.text.length + 1));
  const text = lines.map((line) => line.text).join('\n');
  return {
    text, starts, count: lines.length, escapes: hasEscapes(text),
    marks: Uint8Array.from(lines, (line) => line.marks),
    at: Float64Array.from(lines, (line) => line.at),
    offsets: Float64Array.from(lines, (line) => line.offset),
    numbered: lines.filter((line) => numbered(line.marks)).length,
  };
}

export class LogStore {
  #blocks: Block[] = [];
  #newest: LogLine[] = [];
  #newestChars = 0;
  #unfinished: LogLine[] = [];
  // For each block: id of its first line relative to the first of all, number of line numbers before it, and its
  // initial style.
  #before: { lines: number; numbered: number; style: Style | undefined }[] = [];
  #styles = new Map<Block, Style[]>();
  /** Id of the first line. */
  first = 0;
  /** Number of stored characters. */
  chars = 0;

  /** Id after the last line, including unfinished ones. */
  get end(): number {
    return this.endFinished + this.#unfinished.length;
  }

  get endFinished(): number {
    return this.first + this.#settled + this.#newest.length;
  }

  get count(): number {
    return this.end - this.first;
  }

  /** Blocks with the id of their first line; unfinished lines are a temporary block. */
  *blocks(from = this.first): Generator<{ first: number; block: Block }> {
    for (let i = this.#blockOf(from); i < this.#blocks.length; i++) {
      const block = this.#blocks[i];
      if (block) yield { first: this.first + (this.#before[i]?.lines ?? 0), block };
    }
    const rest = [...this.#newest, ...this.#unfinished];
    if (rest.length > 0) yield { first: this.first + this.#settled, block: sealed(rest) };
  }

  append(line: LogLine): void {
    this.#newest.push(line);
    this.#newestChars += line.text.length + 1;
    this.chars += line.text.length + 1;
    if (this.#newest.length < blockLines && this.#newestChars < blockChars) return;
    this.#push(sealed(this.#newest));
    this.#newest = [];
    this.#newestChars = 0;
  }

  /** Replaces the unfinished lines. */
  unfinished(lines: LogLine[]): void {
    this.#unfinished = lines;
  }

  /** Prepends earlier lines. */
  prepend(earlier: LogStore): void {
    const before = [...earlier.#blocks];
    if (earlier.#newest.length > 0) before.push(sealed(earlier.#newest));
    this.first -= before.reduce((sum, block) => sum + block.count, 0);
    this.chars += earlier.chars;
    this.#reindex([...before, ...this.#blocks]);
  }

  /**
   * Drops the oldest lines down to this number of characters; returns the offset of the first remaining byte if any
   * were dropped.
   */
  shrink(chars: number): number | undefined {
    let drop = 0;
    while (this.chars > chars && drop < this.#blocks.length) {
      const block = this.#blocks[drop++];
      this.chars -= block ? block.text.length + 1 : 0;
      this.first += block?.count ?? 0;
    }
    if (drop === 0) return undefined;
    this.#reindex(this.#blocks.slice(drop));
    return this.line(this.first)?.offset;
  }

  line(name: number): LogLine | undefined {
    const { block, i, late } = this.#find(name);
    if (late) return late;
    if (!block) return undefined;
    return { text: textOf(block, i), marks: block.marks[i] ?? 0, at: block.at[i] ?? NaN, offset: block.offsets[i] ?? 0 };
  }

  /** Returns the length of a line without creating its text. */
  length(name: number): number {
    const { block, i, late } = this.#find(name);
    return late ? late.text.length : block ? (block.starts[i + 1] ?? 0) - (block.starts[i] ?? 0) - 1 : 0;
  }

  /** Returns the total length of all lines from one on. */
  lengths(from: number, take: (length: number) => void): void {
    for (let index = this.#blockOf(from); index < this.#blocks.length; index++) {
      const block = this.#blocks[index];
      const first = this.first + (this.#before[index]?.lines ?? 0);
      for (let i = Math.max(0, from - first); block && i < block.count; i++) take((block.starts[i + 1] ?? 0) - (block.starts[i] ?? 0) - 1);
    }
    const rest = [...this.#newest, ...this.#unfinished];
    for (let i = Math.max(0, from - this.first - this.#settled); i < rest.length; i++) take(rest[i]?.text.length ?? 0);
  }

  marks(name: number): number {
    const { block, i, late } = this.#find(name);
    return late ? late.marks : (block?.marks[i] ?? 0);
  }

  /** Returns the initial style of a line. */
  styleAt(name: number): Style {
    const { block, index, i } = this.#find(name);
    if (block) return this.#stylesOf(index)[i] ?? plain;
    let style = this.#styleBefore(this.#blocks.length);
    const behind = name - this.first - this.#settled;
    for (const line of [...this.#newest, ...this.#unfinished].slice(0, behind)) style = styleAfter(line.text, style);
    return style;
  }

  /** Returns the number of a line, counted from the first stored one; a continuation has the number of its line. */
  number(name: number): number {
    const { block, index, i } = this.#find(name);
    if (block) return (this.#before[index]?.numbered ?? 0) + count(block.marks, i + 1);
    const behind = name - this.first - this.#settled;
    return this.#numberedSettled + [...this.#newest, ...this.#unfinished].slice(0, behind + 1).filter((line) => numbered(line.marks)).length;
  }

  /** Returns the line with a number; the last one if there are fewer. */
  named(number: number): number {
    let low = this.first;
    let high = this.end - 1;
    while (low < high) {
      const middle = Math.floor((low + high) / 2);
      if (this.number(middle) < number) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  /** Returns the line at a byte offset of the output. */
  at(offset: number, stream?: Stream): number {
    let low = this.first;
    let high = this.end - 1;
    while (low < high) {
      const middle = Math.ceil((low + high) / 2);
      if ((this.line(middle)?.offset ?? 0) <= offset) low = middle;
      else high = middle - 1;
    }
    // Lines of two streams may be interleaved: the nearest earlier line of the right stream.
    for (let name = low; stream && name > low - 64 && name >= this.first; name--) {
      if (((this.marks(name) & mark.stderr) !== 0) === (stream === 'stderr')) return name;
    }
    return low;
  }

  get #settled(): number {
    const last = this.#before.at(-1);
    return last ? last.lines + (this.#blocks.at(-1)?.count ?? 0) : 0;
  }

  get #numberedSettled(): number {
    const last = this.#before.at(-1);
    return last ? last.numbered + (this.#blocks.at(-1)?.numbered ?? 0) : 0;
  }

  #push(block: Block): void {
    this.#before.push({ lines: this.#settled, numbered: this.#numberedSettled, style: undefined });
    this.#blocks.push(block);
  }

  #reindex(blocks: Block[]): void {
    this.#blocks = [];
    this.#before = [];
    this.#styles.clear();
    for (const block of blocks) this.#push(block);
  }

  #blockOf(name: number): number {
    const place = name - this.first;
    let low = 0;
    let high = this.#blocks.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      const end = (this.#before[middle]?.lines ?? 0) + (this.#blocks[middle]?.count ?? 0);
      if (end <= place) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  #find(name: number): { block?: Block; index: number; i: number; late?: LogLine | undefined } {
    const behind = name - this.first - this.#settled;
    if (behind >= 0) return { index: this.#blocks.length, i: behind, late: behind < this.#newest.length ? this.#newest[behind] : this.#unfinished[behind - this.#newest.length] };
    if (name < this.first) return { index: 0, i: 0 };
    const index = this.#blockOf(name);
    const block = this.#blocks[index];
    return { ...(block && { block }), index, i: name - this.first - (this.#before[index]?.lines ?? 0) };
  }

  #styleBefore(index: number): Style {
    let known = index;
    while (known > 0 && (known >= this.#before.length || this.#before[known]?.style === undefined)) known--;
    let style = known === 0 ? plain : (this.#before[known]?.style ?? plain);
    for (; known < index; known++) {
      const entry = this.#before[known];
      if (entry) entry.style = style;
      const block = this.#blocks[known];
      if (block?.escapes) style = styleAfter(block.text, style);
    }
    return style;
  }

  #stylesOf(index: number): Style[] {
    const block = this.#blocks[index];
    if (!block) return [];
    const kept = this.#styles.get(block);
    if (kept) return kept;
    let style = this.#styleBefore(index);
    const styles: Style[] = [];
    for (let i = 0; i < block.count; i++) {
      styles.push(style);
      if (block.escapes) style = styleAfter(textOf(block, i), style);
    }
    if (this.#styles.size > 16) this.#styles.clear();
    this.#styles.set(block, styles);
    return styles;
  }
}

export function textOf(block: Block, i: number): string {
  return block.text.slice(block.starts[i], (block.starts[i + 1] ?? 0) - 1);
}

function count(marks: Uint8Array, end: number): number {
  let n = 0;
  for (let i = 0; i < end; i++) if (numbered(marks[i] ?? 0)) n++;
  return n;
}
