// A run's output as it comes, in pieces or as events of the stream, made into lines.

import { LogLines, type LogLine } from './loglines.ts';

/** What the stream says of a part of the output. */
export interface OutputEvent {
  offset: number;
  text?: string;
  base64?: string;
}

export interface MissingEvent {
  offset: number;
  count: number;
}

const encoder = new TextEncoder();

export class OutputFeed {
  readonly #log = new LogLines();
  // A part may end in the middle of a character; the decoder keeps the rest for the next one.
  readonly #decoder = new TextDecoder();
  #inLine = false;
  /** Where to go on, in all that the run prints. */
  offset = 0;

  /** Takes bytes as they were printed; where nothing comes after them, the last character is as complete as it will be. */
  bytes(bytes: Uint8Array, next: number, last = false): void {
    this.#say(this.#decoder.decode(bytes, { stream: !last }));
    this.offset = Math.max(this.offset, next);
  }

  /** Takes an event of the stream; next is its id. One that was seen before is left out. */
  output(event: OutputEvent, next: number): void {
    if (event.offset < this.offset) return;
    const bytes = event.base64 === undefined ? encoder.encode(event.text ?? '') : Uint8Array.from(atob(event.base64), (c) => c.charCodeAt(0));
    this.bytes(bytes, next);
  }

  /** Says what is missing, in the words that the server has for it where it gives output as text. */
  missing(event: MissingEvent): void {
    if (event.offset < this.offset) return;
    this.#say(`${this.#inLine ? '\n' : ''}[carillon: ${event.count} bytes of output are missing here]\n`);
    this.offset = event.offset + event.count;
  }

  lines(): LogLine[] {
    return this.#log.snapshot();
  }

  #say(text: string): void {
    if (text === '') return;
    this.#log.append(text);
    this.#inLine = !text.endsWith('\n');
  }
}
