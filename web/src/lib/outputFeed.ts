// A run's output as it comes, in pieces or as events of the stream, made into lines that are kept.

import type { Stream } from './logline.ts';
import { LineCutter } from './loglines.ts';
import { LogStore } from './logstore.ts';

/** What the stream says of a part of the output. */
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

/** How far the end of a line is looked for where the output is read from within one. */
const longestBreak = 64 * 1024;

const encoder = new TextEncoder();

interface Bounds {
  /** Read from within the output: what comes before the first whole line is left out, and will come with what is earlier. */
  within?: boolean;
  /** Stop at this byte. */
  until?: number;
}

export class OutputFeed {
  readonly store = new LogStore();
  readonly #cutter = new LineCutter((line) => this.store.append(line));
  // A part may end in the middle of a character; the decoder keeps the rest for the next one.
  readonly #decoders = new Map<Stream | undefined, TextDecoder>();
  readonly #until: number;
  #breaking: boolean;
  /** Where the lines begin, in all that the run prints; undefined while nothing has come. */
  from: number | undefined;
  /** Where to go on. */
  offset: number;

  constructor(offset = 0, { within = false, until = Infinity }: Bounds = {}) {
    this.offset = offset;
    this.#breaking = within;
    this.#until = until;
    if (!within) this.from = offset;
  }

  /** All that was to come is here. */
  get full(): boolean {
    return this.offset >= this.#until;
  }

  /** Takes bytes as they were printed, of both streams; where nothing comes after them, the last character is as complete as it will be. */
  bytes(bytes: Uint8Array, next: number, last = false): void {
    this.#say(this.#decode(undefined, bytes, last), this.offset, undefined, NaN);
    this.offset = Math.max(this.offset, next);
  }

  /** Takes an event of the stream; next is its id. One that was seen before is left out. */
  output(event: OutputEvent, next: number): void {
    if (event.offset < this.offset || this.full) return;
    if (this.from === undefined && event.offset === 0) {
      this.#breaking = false;
      this.from = 0;
    }
    const at = event.at === undefined ? NaN : Date.parse(event.at);
    if (event.base64 === undefined && next <= this.#until) this.#say(event.text ?? '', event.offset, event.stream, at);
    else {
      const bytes = event.base64 === undefined ? encoder.encode(event.text ?? '') : Uint8Array.from(atob(event.base64), (c) => c.charCodeAt(0));
      this.#say(this.#decode(event.stream, bytes.subarray(0, this.#until - event.offset), false), event.offset, event.stream, at);
    }
    this.offset = Math.min(this.#until, Math.max(this.offset, next));
  }

  /** Takes what the stream says of a hole. */
  missing(event: MissingEvent): void {
    if (event.offset < this.offset || this.full) return;
    this.#breaking = false;
    this.from ??= event.offset;
    this.#cutter.hole(event.offset, event.count);
    this.offset = Math.min(this.#until, event.offset + event.count);
  }

  /** Shows what is not a whole line yet as well. */
  settle(): void {
    this.store.unfinished(this.#cutter.unfinished());
  }

  /** Ends the last lines: nothing more will come. */
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

  #say(text: string, offset: number, stream: Stream | undefined, at: number): void {
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
