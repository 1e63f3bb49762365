import { useQueryClient } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import type { LogLine } from '../lib/loglines.ts';
import { OutputFeed, type MissingEvent, type OutputEvent } from '../lib/outputFeed.ts';
import { client } from './client.ts';
import { keys } from './keys.ts';
import { answerOf, Problem } from './problem.ts';

export type Stream = 'all' | 'stdout' | 'stderr';

export interface Output {
  lines: LogLine[];
  /** Bytes that the run has printed, as far as is known. */
  size: number;
  /** The run has ended and everything kept of its output is here. */
  complete: boolean;
  /** What the output is read from does not answer just now. */
  away: boolean;
  error: Error | undefined;
}

const nothing: Output = { lines: [], size: 0, complete: false, away: false, error: undefined };

const pieceSize = 256 * 1024;
const pollEvery = 700;
const retryEvery = 2000;
// Where a stream was refused, output is asked for piece by piece, and the stream tried again after a while.
const streamAgain = 20_000;
// What comes is shown together, so that a flood does not lay out the page for each of its parts.
const showEvery = 100;

function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, ms);
    signal.addEventListener('abort', () => {
      clearTimeout(timer);
      resolve();
    });
  });
}

interface Piece {
  bytes: ArrayBuffer;
  next: number;
  size: number;
  complete: boolean;
}

async function fetchPiece(id: string, stream: Stream, offset: number, signal: AbortSignal): Promise<Piece> {
  const { data, response } = await answerOf(
    client.GET('/api/v1/runs/{id}/output', {
      params: { path: { id }, query: { offset, limit: pieceSize, stream: stream === 'all' ? undefined : stream } },
      parseAs: 'arrayBuffer',
      signal,
    }),
  );
  // An empty body comes as none at all.
  const bytes: ArrayBuffer = data ?? new ArrayBuffer(0);
  const number = (header: string, otherwise: number) => Number(response.headers.get(header) ?? otherwise);
  return {
    bytes,
    next: number('Carillon-Next-Offset', offset + bytes.byteLength),
    size: number('Carillon-Output-Size', offset + bytes.byteLength),
    complete: response.headers.get('Carillon-Output-Complete') === 'true',
  };
}

interface Listener {
  show: (away: boolean) => void;
  changed: () => void;
}

/** Follows a run as it prints, until it ends or the stream is refused. A connection that breaks is taken up by the browser, from the last event on. */
function followStream(id: string, stream: Stream, feed: OutputFeed, { show, changed }: Listener, signal: AbortSignal): Promise<'ended' | 'refused'> {
  return new Promise((resolve) => {
    const query = new URLSearchParams({ offset: String(feed.offset), ...(stream !== 'all' && { stream }) });
    const source = new EventSource(`/api/v1/runs/${encodeURIComponent(id)}/output/stream?${query}`);
    const stop = (how: 'ended' | 'refused') => {
      source.close();
      resolve(how);
    };
    const on = <Data,>(type: string, take: (data: Data, next: number) => void) =>
      source.addEventListener(type, (event: MessageEvent<string>) => take(JSON.parse(event.data) as Data, Number(event.lastEventId)));
    on<OutputEvent>('output', (event, next) => {
      feed.output(event, next);
      show(false);
    });
    on<MissingEvent>('missing', (event) => {
      feed.missing(event);
      show(false);
    });
    on('away', () => show(true));
    on('back', () => show(false));
    on('run', changed);
    on('end', () => {
      changed();
      stop('ended');
    });
    source.addEventListener('error', () => source.readyState === EventSource.CLOSED && stop('refused'));
    signal.addEventListener('abort', () => stop('ended'));
  });
}

/** Reads a run's output from its beginning and follows it until it is complete; a server that is away is asked again. */
export function useRunOutput(id: string, stream: Stream, enabled: boolean): Output {
  const [output, setOutput] = useState<Output>(nothing);
  const queryClient = useQueryClient();

  useEffect(() => {
    if (!enabled) return;
    const abort = new AbortController();
    const { signal } = abort;
    const feed = new OutputFeed();
    let timer: ReturnType<typeof setTimeout> | undefined;
    let size = 0;
    let away = false;
    const showNow = (complete: boolean) => {
      clearTimeout(timer);
      timer = undefined;
      setOutput({ lines: feed.lines(), size: Math.max(size, feed.offset), complete, away, error: undefined });
    };
    const listener: Listener = {
      show: (isAway) => {
        away = isAway;
        timer ??= setTimeout(() => showNow(false), showEvery);
      },
      changed: () => void queryClient.invalidateQueries({ queryKey: keys.run(id) }),
    };
    const follow = async () => {
      let streamAt = 0;
      setOutput(nothing);
      while (!signal.aborted) {
        try {
          const piece = await fetchPiece(id, stream, feed.offset, signal);
          const advanced = piece.next > feed.offset;
          ({ size } = piece);
          away = false;
          feed.bytes(new Uint8Array(piece.bytes), piece.next, piece.complete);
          showNow(piece.complete);
          if (piece.complete) return;
          if (advanced) continue;
          if (Date.now() < streamAt) await pause(pollEvery, signal);
          // Whatever ended the stream, what is read next says whether that was all.
          else streamAt = (await followStream(id, stream, feed, listener, signal)) === 'refused' ? Date.now() + streamAgain : Date.now() + retryEvery;
        } catch (cause) {
          if (signal.aborted) return;
          const error = cause instanceof Error ? cause : new Error(String(cause));
          setOutput((before) => ({ ...before, error }));
          if (error instanceof Problem && error.status < 500) return;
          await pause(retryEvery, signal);
        }
      }
    };
    void follow();
    return () => {
      abort.abort();
      clearTimeout(timer);
    };
  }, [id, stream, enabled, queryClient]);

  return output;
}

/** Where the browser downloads the output from: the bytes as they were printed. */
export function downloadUrl(id: string): string {
  return `/api/v1/runs/${encodeURIComponent(id)}/output?download=true`;
}
