// Converts a run's output, read in pieces or as stream events, to stored lines.

import type { Stream } from './logline.ts';
import { LineCutter } from './loglines.ts';
import { LogStore } from './logstore.ts';

/** An output event of the stream. */
export interface OutputEvent {
  offset: number;
  stream?: Stream;
  at?: string;
  text?: string;
  base64?: string;
}

export interface MissingEvent {
  offset: number;
  count: number;
}

/** How far to look for the end of a line if the output is read from the middle of one. */
const longestBreak = 64 * 1024;

const encoder = new TextEncoder();

interface Bounds {
  /**
   * Reading started within the output: text before the first complete line is skipped; it is loaded with the earlier
   * part.
   */
  within?: boolean;
  /** Stop at this offset. */
  until?: number;
}

export class OutputFeed {
  readonly store = new LogStore();
  readonly #cutter = new LineCutter((line) => this.store.append(line));
  // A chunk may end within a character; the decoder keeps the rest for the next one.
  readonly #decoders = new Map<Stream | undefined, TextDecoder>();
  readonly #until: number;
  #breaking: boolean;
  /** Offset of the first line in the complete output; undefined before the first data. */
  from: number | undefined;
  /** Offset to continue at. */
  offset: number;

  constructor(offset = 0, { within = false, until = Infinity }: Bounds = {}) {
    this.offset = offset;
    this.#breaking = within;
    this.#until = until;
    if (!within) this.from = offset;
  }

  /** All expected output has arrived. */
  get full(): boolean {
    return this.offset >= this.#until;
  }

  /** Adds raw bytes of both streams; at the end an incomplete character is final. */
  bytes(bytes: Uint8Array, next: number, last = false): void {
    this.#append(this.#decode(undefined, bytes, last), this.offset, undefined, NaN);
    this.offset = Math.max(this.offset, next);
  }

  /** Adds an event of the stream; next is its id. Repeated events are ignored. */
  output(event: OutputEvent, next: number): void {
    if (event.offset < this.offset || this.full) return;
    if (this.from === undefined && event.offset === 0) {
      this.#breaking = false;
      this.from = 0;
    }
    const at = event.at === undefined ? NaN : Date.parse(event.at);
    if (event.base64 === undefined && next <= this.#until) this.#append(event.text ?? '', event.offset, event.stream, at);
    else {
      const bytes = event.base64 === undefined ? encoder.encode(event.text ?? '') : Uint8Array.from(atob(event.base64), (c) => c.charCodeAt(0));
      this.#append(this.#decode(event.stream, bytes.subarray(0, this.#until - event.offset), false), event.offset, event.stream, at);
    }
    this.offset = Math.min(this.#until, Math.max(this.offset, next));
  }

  /** Adds a gap event of the stream. */
  missing(event: MissingEvent): void {
    if (event.offset < this.offset || this.full) return;
    this.#breaking = false;
    this.from ??= event.offset;
    this.#cutter.hole(event.offset, event.count);
    this.offset = Math.min(this.#until, event.offset + event.count);
  }

  /** Shows unfinished lines as well. */
  settle(): void {
    this.store.unfinished(this.#cutter.unfinished());
  }

  /** Ends the last lines: no more output follows. */
  end(): void {
    this.#cutter.flush();
    this.store.unfinished([]);
    this.from ??= this.offset;
  }

  #decode(stream: Stream | undefined, bytes: Uint8Array, last: boolean): string {
    const decoder = this.#decoders.get(stream) ?? new TextDecoder();
    this.#decoders.set(stream, decoder);
    return decoder.decode(bytes, { stream: !last });
  }

  #append(text: string, offset: number, stream: Stream | undefined, at: number): void {
    if (text === '') return;
    let begin = 0;
    if (this.#breaking) {
      const end = text.indexOf('\n');
      this.from ??= offset;
      if (end < 0 && offset - this.from < longestBreak) return;
      begin = end + 1;
      this.#breaking = false;
      this.from = offset + encoder.encode(text.slice(0, begin)).length;
    }
    this.#cutter.text(text.slice(begin), this.from === undefined ? offset : Math.max(offset, this.from), stream, at);
  }
}
