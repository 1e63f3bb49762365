// Splits streamed output into lines. Each stream has its own unfinished line, so that text on stderr does not land
// within a line of stdout; a line gets its position when it ends.

import { overwritten } from './carriage.ts';
import { longestLine, mark, type LogLine, type Stream } from './logline.ts';

interface Open {
  text: string;
  at: number;
  offset: number;
  marks: number;
}

/** Returns the length of a text in UTF-8. */
export function utf8Length(text: string): number {
  let length = text.length;
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if (code < 0x80) continue;
    length += code < 0x800 || (code >= 0xd800 && code <= 0xdfff) ? 1 : 2;
  }
  return length;
}

export class LineCutter {
  readonly #open = new Map<Stream | undefined, Open>();
  readonly #take: (line: LogLine) => void;

  constructor(take: (line: LogLine) => void) {
    this.#take = take;
  }

  /** Adds output; without a stream, lines belong to both. */
  text(text: string, offset: number, stream?: Stream, at = NaN): void {
    let from = 0;
    let place = offset;
    while (from < text.length) {
      const end = text.indexOf('\n', from);
      const part = text.slice(from, end < 0 ? undefined : end);
      this.#add(stream, part, place, at);
      if (end < 0) return;
      this.#close(stream, place, at);
      place += utf8Length(part) + 1;
      from = end + 1;
    }
  }

  /** Adds a gap of missing bytes. */
  hole(offset: number, count: number): void {
    this.flush();
    this.#take({ text: String(count), marks: mark.hole, at: NaN, offset });
  }

  /** Ends the unfinished lines. */
  flush(): void {
    for (const stream of [...this.#open.keys()]) this.#close(stream, 0, NaN);
  }

  /** Returns the unfinished lines as they are now. */
  unfinished(): LogLine[] {
    return [...this.#open.values()].flatMap((open) => (open.text === '' || open.text === '\r' ? [] : [finished(open)]));
  }

  #add(stream: Stream | undefined, part: string, offset: number, at: number): void {
    if (part === '') return;
    const marks = stream === undefined ? 0 : mark.known + (stream === 'stderr' ? mark.stderr : 0);
    const open = this.#open.get(stream) ?? { text: '', at, offset, marks };
    open.text += part;
    const lastReturn = open.text.lastIndexOf('\r', open.text.length - 2);
    if (lastReturn > 0) {
      // Only the visible part of overwritten text is kept: a progress bar may be drawn a hundred thousand times on one
      // line.
      const { text } = overwritten(open.text.slice(0, lastReturn));
      open.text = `${text}\r${open.text.slice(lastReturn + 1)}`;
      if (text !== '') open.marks |= mark.over;
    }
    while (open.text.length > longestLine) {
      this.#take(finished({ ...open, text: open.text.slice(0, longestLine) }));
      open.offset += utf8Length(open.text.slice(0, longestLine));
      open.text = open.text.slice(longestLine);
      open.marks = (open.marks & ~mark.over) | mark.goesOn;
    }
    this.#open.set(stream, open);
  }

  #close(stream: Stream | undefined, offset: number, at: number): void {
    const open = this.#open.get(stream) ?? { text: '', at, offset, marks: stream === undefined ? 0 : mark.known + (stream === 'stderr' ? mark.stderr : 0) };
    this.#open.delete(stream);
    this.#take(finished(open));
  }
}

function finished({ text, at, offset, marks }: Open): LogLine {
  const whole = text.endsWith('\r') ? text.slice(0, -1) : text;
  if (!whole.includes('\r')) return { text: whole, at, offset, marks };
  const { text: left, times } = overwritten(whole);
  return { text: left, at, offset, marks: times > 0 ? marks | mark.over : marks };
}
