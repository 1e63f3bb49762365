// Live updates for queries and screens: one event stream per tab; without it, queries poll.

import { useQueryClient } from '@tanstack/react-query';
import { useEffect, useRef } from 'react';
import type { Connectivity } from './connectivity.ts';
import type { RunEvent } from './liveChanges.ts';
import { LiveStream, type LiveState } from './liveStream.ts';

export type { JobEvent, RunEvent, WorkerEvent } from './liveChanges.ts';

/** Some results change with time alone, and a dead connection may go unnoticed: refetch everything at this interval. */
const slowly = 60_000;

const state: LiveState = { connected: false, handlers: new Set() };

/**
 * An interval for `refetchInterval`: polls only without an event stream. liveChanges.ts lists the queries that the
 * stream covers.
 */
export function unlessLive(ms: number): () => number {
  return () => (state.connected ? Math.max(ms, slowly) : ms);
}

/** Passes on each run event while the stream is open. Missed events are covered by queries. */
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

/** Keeps the shown data current while a user with a role is signed in. */
export function useLive(mayRead: boolean, connectivity: Connectivity): void {
  const queries = useQueryClient();
  useEffect(() => {
    if (!mayRead) return;
    const stream = new LiveStream(queries, connectivity, state);
    return () => stream.stop();
  }, [queries, connectivity, mayRead]);
}
