// What changes in the cluster, as queries and screens use it: one stream for each tab tells of it, and while there is none,
// queries poll.

import { useQueryClient } from '@tanstack/react-query';
import { useEffect, useRef } from 'react';
import type { Connectivity } from './connectivity.ts';
import type { RunEvent } from './liveChanges.ts';
import { LiveStream, type LiveState } from './liveStream.ts';

export type { JobEvent, RunEvent, WorkerEvent } from './liveChanges.ts';

/** Time alone changes something too, and a connection may be dead without a word: even then all is asked again this often. */
const slowly = 60_000;

const state: LiveState = { connected: false, handlers: new Set() };

/** An interval for `refetchInterval`: polls only while there is no stream of events. liveChanges.ts lists what the stream covers. */
export function unlessLive(ms: number): () => number {
  return () => (state.connected ? Math.max(ms, slowly) : ms);
}

/** Receives each run that waits, runs or ends while the stream lasts. Queries show what was missed. */
export function useLiveRuns(handler: (event: RunEvent) => void): void {
  const latest = useRef(handler);
  useEffect(() => {
    latest.current = handler;
  });
  useEffect(() => {
    const hear = (event: RunEvent) => latest.current(event);
    state.handlers.add(hear);
    return () => void state.handlers.delete(hear);
  }, []);
}

/** Keeps the shown data current while a user who may read is signed in. */
export function useLive(mayRead: boolean, connectivity: Connectivity): void {
  const queries = useQueryClient();
  useEffect(() => {
    if (!mayRead) return;
    const stream = new LiveStream(queries, connectivity, state);
    return () => stream.stop();
  }, [queries, connectivity, mayRead]);
}
