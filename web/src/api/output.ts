import { useQueryClient } from '@tanstack/react-query';
import { useEffect, useState, useSyncExternalStore } from 'react';
import { OutputFeed, type MissingEvent, type OutputEvent } from '../lib/outputFeed.ts';
import { isLeft, isSeen, onSeen } from '../lib/pageSeen.ts';
import { client } from './client.ts';
import { keys } from './keys.ts';
import { answerOf, dataOf, Problem } from './problem.ts';

/** Loading state of an output; the lines are in the store, which grows in place. */
export interface OutputState {
  /** Changes whenever the store has changed. */
  version: number;
  /** Number of bytes that the run has printed, as far as known. */
  size: number;
  /** Offset of the first loaded line; undefined before the first data. */
  from: number | undefined;
  /** The run has ended and all of its stored output is loaded. */
  complete: boolean;
  /** The log store is unavailable. */
  away: boolean;
  /** Earlier lines are loading. */
  fetching: boolean;
  error: Error | undefined;
}

/** Size of the first read, from the end. */
export const firstSize = 16 * 1024 * 1024;
/** Size of each read of earlier output. */
export const tailSize = 8 * 1024 * 1024;
/** Maximum number of characters in memory: beyond it the oldest lines are dropped. */
export const mostKept = 128 * 1024 * 1024;

const pieceSize = 256 * 1024;
const pollEvery = 700;
const retryEvery = 2000;
// If a stream is refused, output is read in pieces, and the stream is retried after this time.
const streamAgain = 20_000;
// Data is shown in batches, so that fast output does not cause a layout for each chunk.
const showEvery = 80;

const nothing: OutputState = { version: 0, size: 0, from: undefined, complete: false, away: false, fetching: false, error: undefined };

function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      clearTimeout(timer);
      signal.removeEventListener('abort', done);
      resolve();
    };
    const timer = setTimeout(done, ms);
    signal.addEventListener('abort', done);
  });
}

/** Reports whether a retry is useless. After a new sign-in or a short wait it is not. */
export function isFinal(error: Error): boolean {
  return error instanceof Problem && error.status < 500 && error.status !== 401 && error.status !== 429;
}

// A browser has few connections per host: a hidden tab closes this one and later continues at the same offset.
const hiddenAfter = 5000;

/** Resolves once the page is visible. */
function seen(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    let stop = () => {};
    const done = () => {
      if (!isSeen() && !signal.aborted) return;
      stop();
      signal.removeEventListener('abort', done);
      resolve();
    };
    stop = onSeen(done);
    signal.addEventListener('abort', done);
    done();
  });
}

/** An abort signal that fires shortly after the page is hidden. */
function whileSeen(signal: AbortSignal): { signal: AbortSignal; done: () => void } {
  const abort = new AbortController();
  let timer: ReturnType<typeof setTimeout> | undefined;
  const change = () => {
    clearTimeout(timer);
    if (isLeft()) abort.abort();
    else if (!isSeen()) timer = setTimeout(() => abort.abort(), hiddenAfter);
  };
  const end = () => abort.abort();
  const stop = onSeen(change);
  signal.addEventListener('abort', end);
  change();
  return {
    signal: abort.signal,
    done: () => {
      clearTimeout(timer);
      stop();
      signal.removeEventListener('abort', end);
    },
  };
}

interface Handlers {
  output: (event: OutputEvent, next: number) => void;
  missing: (event: MissingEvent) => void;
  away?: (away: boolean) => void;
  changed?: () => void;
}

/**
 * Follows a run's output until it ends, is enough, or is refused. The browser reconnects a broken connection and
 * continues with the last event.
 */
function followStream(id: string, place: { offset: number } | { tail: number }, signal: AbortSignal, on: Handlers, enough: () => boolean = () => false): Promise<'ended' | 'refused'> {
  return new Promise((resolve) => {
    const query = new URLSearchParams(Object.entries(place).map(([name, value]) => [name, String(value)]));
    const source = new EventSource(`/api/v1/runs/${encodeURIComponent(id)}/output/stream?${query}`);
    const stop = (how: 'ended' | 'refused') => {
      source.close();
      signal.removeEventListener('abort', aborted);
      resolve(how);
    };
    const aborted = () => stop('ended');
    const take = <Data,>(type: string, handle: (data: Data, next: number) => void) =>
      source.addEventListener(type, (event: MessageEvent<string>) => {
        handle(JSON.parse(event.data) as Data, Number(event.lastEventId));
        if (enough()) stop('ended');
      });
    take<OutputEvent>('output', on.output);
    take<MissingEvent>('missing', on.missing);
    take('away', () => on.away?.(true));
    take('back', () => on.away?.(false));
    take('run', () => on.changed?.());
    take('end', () => {
      on.changed?.();
      stop('ended');
    });
    source.addEventListener('error', () => source.readyState === EventSource.CLOSED && stop('refused'));
    signal.addEventListener('abort', aborted);
  });
}

/** A run's output: reads the tail, follows it until it is complete, and loads earlier parts on request. */
export class RunOutput {
  readonly id: string;
  #feed: OutputFeed;
  #state = nothing;
  readonly #listeners = new Set<() => void>();
  readonly #abort = new AbortController();
  readonly #changed: () => void;
  readonly #whole: boolean;
  #timer: ReturnType<typeof setTimeout> | undefined;

  /** Reads all of it if requested, else its tail. */
  constructor(id: string, whole: boolean, changed: () => void) {
    this.id = id;
    this.#whole = whole;
    this.#changed = changed;
    this.#feed = new OutputFeed(0, { within: !whole });
  }

  get store() {
    return this.#feed.store;
  }

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  readonly state = (): OutputState => this.#state;

  stop(): void {
    this.#abort.abort();
    clearTimeout(this.#timer);
  }

  /** Follows the output; retries while the server is unreachable. */
  async follow(): Promise<void> {
    const { signal } = this.#abort;
    let streamAt = 0;
    while (!signal.aborted && !this.#state.complete) {
      try {
        if (Date.now() >= streamAt) {
          const place = this.#feed.from === undefined ? (this.#whole ? { offset: 0 } : { tail: firstSize }) : { offset: this.#feed.offset };
          const sight = whileSeen(signal);
          const how = await followStream(this.id, place, sight.signal, {
            output: (event, next) => this.#took(() => this.#feed.output(event, next)),
            missing: (event) => this.#took(() => this.#feed.missing(event)),
            away: (away) => this.#took(() => undefined, away),
            changed: this.#changed,
          });
          sight.done();
          if (sight.signal.aborted && !signal.aborted) {
            await seen(signal);
            continue;
          }
          streamAt = Date.now() + (how === 'refused' ? streamAgain : retryEvery);
          if (signal.aborted) return;
        }
        // Whatever ended the stream, this read finds remaining output.
        const advanced = await this.#piece(signal);
        if (!advanced && !this.#state.complete) await pause(pollEvery, signal);
      } catch (cause) {
        if (signal.aborted) return;
        const error = cause instanceof Error ? cause : new Error(String(cause));
        this.#show({ error });
        if (isFinal(error)) return;
        await pause(retryEvery, signal);
      }
    }
  }

  /**
   * Loads output before the first line: about this many bytes, or everything from an offset on. Rejects if that fails.
   */
  async earlier(to: number): Promise<void> {
    const { from } = this.#state;
    if (from === undefined || from === 0 || this.#state.fetching) return;
    this.#show({ fetching: true });
    try {
      const begin = Math.max(0, Math.min(to, from));
      const part = new OutputFeed(begin, { within: begin > 0, until: from });
      const handlers = { output: (event: OutputEvent, next: number) => part.output(event, next), missing: (event: MissingEvent) => part.missing(event) };
      const how = await followStream(this.id, { offset: begin }, this.#abort.signal, handlers, () => part.full);
      if (this.#abort.signal.aborted) return;
      if (how === 'refused') await this.#refusal();
      part.end();
      this.#feed.store.prepend(part.store);
      this.#feed.from = part.from ?? from;
    } finally {
      this.#show({ fetching: false });
    }
  }

  /** Repeats the request in a form whose error contains the reason. */
  async #refusal(): Promise<void> {
    await answerOf(client.GET('/api/v1/runs/{id}/output', { params: { path: { id: this.id }, query: { offset: 0, limit: 1 } }, parseAs: 'arrayBuffer' }));
  }

  /** Reads a piece without the stream; reports whether there was any output. */
  async #piece(signal: AbortSignal): Promise<boolean> {
    const { offset } = this.#feed;
    const { data, response } = await answerOf(
      client.GET('/api/v1/runs/{id}/output', { params: { path: { id: this.id }, query: { offset, limit: pieceSize } }, parseAs: 'arrayBuffer', signal }),
    );
    if (this.#feed.from === undefined) this.#feed = new OutputFeed(offset);
    const header = (name: string) => response.headers.get(name);
    const complete = header('Carillon-Output-Complete') === 'true';
    const next = Number(header('Carillon-Next-Offset') ?? offset);
    // An empty body is returned as undefined.
    this.#feed.bytes(new Uint8Array((data as ArrayBuffer | undefined) ?? new ArrayBuffer(0)), next, complete);
    if (complete) this.#feed.end();
    this.#show({ size: Number(header('Carillon-Output-Size') ?? 0), complete, away: false, error: undefined });
    return next > offset;
  }

  #took(take: () => void, away = false): void {
    take();
    // Live output is retried after any failure.
    if (away !== this.#state.away || this.#state.error) this.#state = { ...this.#state, away, error: undefined };
    this.#timer ??= setTimeout(() => this.#show({}), showEvery);
  }

  #show(change: Partial<OutputState>): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    if (!change.complete) this.#feed.settle();
    const left = this.#feed.store.shrink(mostKept);
    if (left !== undefined) this.#feed.from = left;
    const size = Math.max(change.size ?? 0, this.#state.size, this.#feed.offset);
    this.#state = { ...this.#state, ...change, size, from: this.#feed.from, version: this.#state.version + 1 };
    for (const listener of this.#listeners) listener();
  }
}

const idle = () => () => undefined;
const idleState = () => nothing;

/** The output of a run while it is shown; undefined if there is none to read. */
export function useRunOutput(id: string, enabled: boolean, whole: boolean): { output: RunOutput | undefined; state: OutputState } {
  const queryClient = useQueryClient();
  const [output, setOutput] = useState<RunOutput | undefined>();
  useEffect(() => {
    if (!enabled) return;
    const reading = new RunOutput(id, whole, () => void queryClient.invalidateQueries({ queryKey: keys.run(id) }));
    setOutput(reading);
    void reading.follow();
    return () => {
      reading.stop();
      setOutput(undefined);
    };
  }, [id, enabled, whole, queryClient]);
  const state = useSyncExternalStore(output?.subscribe ?? idle, output?.state ?? idleState);
  return { output, state };
}

interface Asked {
  q: string;
  regex?: boolean | undefined;
  case?: boolean | undefined;
  stream?: 'stdout' | 'stderr' | undefined;
  limit?: number | undefined;
}

/** Searches the output of a run on the server. */
export function searchOutput(id: string, query: Asked, signal?: AbortSignal) {
  return dataOf(client.GET('/api/v1/runs/{id}/output/search', { params: { path: { id }, query }, signal }));
}

/** URL for the download of the raw output. */
export function downloadUrl(id: string): string {
  return `/api/v1/runs/${encodeURIComponent(id)}/output?download=true`;
}
