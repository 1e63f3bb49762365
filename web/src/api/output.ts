import { useEffect, useState } from 'react';
import { LogLines, type LogLine } from '../lib/loglines.ts';
import { client } from './client.ts';
import { answerOf, Problem } from './problem.ts';

export type Stream = 'all' | 'stdout' | 'stderr';

export interface Output {
  lines: LogLine[];
  /** Bytes that the run has printed, as far as is known. */
  size: number;
  /** The run has ended and everything kept of its output is here. */
  complete: boolean;
  error: Error | undefined;
}

const pieceSize = 256 * 1024;
const pollEvery = 700;
const retryEvery = 2000;

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

/** Reads a run's output from its beginning and follows it until it is complete; a server that is away is asked again. */
export function useRunOutput(id: string, stream: Stream, enabled: boolean): Output {
  const [output, setOutput] = useState<Output>(() => ({ lines: [], size: 0, complete: false, error: undefined }));

  useEffect(() => {
    if (!enabled) return;
    const abort = new AbortController();
    const follow = async () => {
      const log = new LogLines();
      // A piece may end in the middle of a character; the decoder keeps the rest for the next one.
      const decoder = new TextDecoder();
      let offset = 0;
      setOutput({ lines: [], size: 0, complete: false, error: undefined });
      while (!abort.signal.aborted) {
        try {
          const piece = await fetchPiece(id, stream, offset, abort.signal);
          const advanced = piece.next > offset;
          offset = piece.next;
          const done = piece.complete;
          log.append(decoder.decode(piece.bytes, { stream: !done }));
          setOutput({ lines: log.snapshot(), size: piece.size, complete: done, error: undefined });
          if (done) return;
          if (!advanced) await pause(pollEvery, abort.signal);
        } catch (cause) {
          if (abort.signal.aborted) return;
          const error = cause instanceof Error ? cause : new Error(String(cause));
          setOutput((before) => ({ ...before, error }));
          if (error instanceof Problem && error.status < 500) return;
          await pause(retryEvery, abort.signal);
        }
      }
    };
    void follow();
    return () => abort.abort();
  }, [id, stream, enabled]);

  return output;
}

/** Where the browser downloads the output from: the bytes as they were printed. */
export function downloadUrl(id: string): string {
  return `/api/v1/runs/${encodeURIComponent(id)}/output?download=true`;
}
