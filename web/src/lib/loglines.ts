// Output that arrives in pieces, as lines. Each line keeps its raw text and the style it starts in, so that only the lines
// on screen are ever parsed. Lone carriage returns begin a new line: a progress bar becomes rows, and nothing is painted over.

import { plain, styleAfter, type Style } from './ansi.ts';

export interface LogLine {
  text: string;
  start: Style;
}

/** A line longer than this is cut into several, because laying out one huge line stops the browser. */
export const longestLine = 4096;

export class LogLines {
  readonly lines: LogLine[] = [];
  #open = '';
  #style: Style = plain;

  append(piece: string): void {
    const text = this.#open + piece;
    // A carriage return at the very end may be half of a CRLF: it waits for the next piece.
    const parts = text.split(/\r\n|\r(?!$)|\n/);
    this.#open = parts.pop() ?? '';
    for (const part of parts) this.#close(part);
    while (this.#open.length > longestLine) {
      this.#close(this.#open.slice(0, longestLine));
      this.#open = this.#open.slice(longestLine);
    }
  }

  /** All lines, the unfinished last one included. */
  snapshot(): LogLine[] {
    return this.#open === '' || this.#open === '\r' ? this.lines.slice() : [...this.lines, { text: this.#open.replace(/\r$/, ''), start: this.#style }];
  }

  #close(line: string): void {
    for (let from = 0; from === 0 || from < line.length; from += longestLine) {
      const text = line.slice(from, from + longestLine);
      this.lines.push({ text, start: this.#style });
      this.#style = styleAfter(text, this.#style);
    }
  }
}
