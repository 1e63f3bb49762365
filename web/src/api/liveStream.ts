// The event stream of a tab. It is open while the tab is visible; affected queries are refetched at most once a second.

import type { QueryClient } from '@tanstack/react-query';
import type { Connectivity } from './connectivity.ts';
import { keys } from './keys.ts';
import { Changes, type Change, type RunEvent } from './liveChanges.ts';
import { Paces } from './livePace.ts';
import { isLeft, isSeen, onSeen } from '../lib/pageSeen.ts';

/** Changes are collected for this long, and the first one briefly, since related events arrive together. */
const gather = 1000;
const moment = 100;
/** A hidden tab closes its connection after this time: a browser has only six for a server without TLS. */
const patience = 5000;
const retryFirst = 1000;
const retryLast = 30_000;
/** A stream that lasted for this long did not fail. */
const steady = 30_000;
/** Without a stream for this long, polling begins. */
const grace = 3000;
/** Run events are passed on in batches at this interval, with at most this many events: the newest ones are kept. */
const handOver = 250;
const held = 1000;

/** Queries that poll every few seconds without a stream and are updated by events with one. */
const restless: ReadonlySet<unknown> = new Set(['jobs', 'runs', 'fires', 'timeline', 'workers', 'placements']);

type Timer = 'flush' | 'retry' | 'hide' | 'grace' | 'runs' | 'steady';

/** The interface for the rest of the console. */
export interface LiveState {
  connected: boolean;
  readonly handlers: Set<(event: RunEvent) => void>;
}

/** Started and stopped by useLive only. */
export class LiveStream {
  readonly #queries: QueryClient;
  readonly #connectivity: Connectivity;
  readonly #state: LiveState;
  readonly #paces = new Paces();
  readonly #stops: (() => void)[] = [];
  #changes = new Changes();
  #source: EventSource | undefined;
  #revision = '';
  #failures = 0;
  #flushed = -Infinity;
  #flushAt = Infinity;
  #runs: RunEvent[] = [];
  readonly #timers: { [name in Timer]?: number | undefined } = {};

  constructor(queries: QueryClient, connectivity: Connectivity, state: LiveState) {
    this.#queries = queries;
    this.#connectivity = connectivity;
    this.#state = state;
    const onVisible = () => this.#onSeen();
    const online = () => this.#restart();
    window.addEventListener('online', online);
    this.#stops.push(
      onSeen(onVisible),
      () => window.removeEventListener('online', online),
      connectivity.subscribe(() => (connectivity.isAway() ? this.#lost() : this.#restart())),
    );
    if (isSeen()) this.#open();
  }

  stop(): void {
    for (const stop of this.#stops) stop();
    for (const timer of Object.values(this.#timers)) clearTimeout(timer);
    this.#close();
  }

  #close(): void {
    this.#source?.close();
    this.#source = undefined;
    this.#state.connected = false;
  }

  #once(name: Timer, after: number, act: () => void): void {
    this.#timers[name] ??= window.setTimeout(() => {
      this.#timers[name] = undefined;
      act();
    }, after);
  }

  #cancel(name: Timer): void {
    clearTimeout(this.#timers[name]);
    this.#timers[name] = undefined;
  }

  #onSeen(): void {
    if (isLeft()) {
      this.#cancel('hide');
      this.#leave();
    } else if (!isSeen()) this.#once('hide', patience, () => this.#leave());
    else {
      this.#cancel('hide');
      if (!this.#source) this.#restart();
      this.#plan();
    }
  }

  #leave(): void {
    this.#cancel('retry');
    this.#cancel('flush');
    this.#close();
  }

  #restart(): void {
    if (!isSeen()) return;
    this.#cancel('retry');
    this.#close();
    this.#open();
  }

  #open(): void {
    const since = this.#revision;
    const source = new EventSource(`/api/v1/events${since && `?since=${since}`}`);
    this.#source = source;
    const on = <Data>(type: string, take: (data: Data) => void) =>
      source.addEventListener(type, (event: MessageEvent<string>) => {
        if (event.lastEventId) this.#revision = event.lastEventId;
        take(JSON.parse(event.data) as Data);
      });
    on('ready', () => {
      this.#cancel('grace');
      this.#once('steady', steady, () => (this.#failures = 0));
      this.#state.connected = true; // queries read it after their next answer and stop polling
      if (!since) this.#begin();
    });
    on('reset', () => this.#all());
    for (const kind of ['job', 'run', 'flowrun', 'worker'] as const) on<never>(kind, (data) => this.#take({ kind, data }));
    source.addEventListener('error', () => this.#source === source && this.#lost());
  }

  /** The stream ended, or was refused: the session query reports whether the server responds, and whether the user may still read. */
  #lost(): void {
    this.#close();
    this.#cancel('steady');
    if (!isSeen()) return;
    this.#once('grace', grace, () => this.#all());
    if (this.#connectivity.isAway()) return this.#cancel('retry'); // the first successful request reports its return
    if (this.#timers.retry === undefined) void this.#queries.invalidateQueries({ queryKey: keys.session });
    const delay = Math.min(retryLast, retryFirst * 2 ** this.#failures++) * (0.5 + Math.random() / 2);
    this.#once('retry', delay, () => this.#open());
  }

  /**
   * A stream contains only events from now on: data loaded before it lacks the events in between, and is refetched
   * once.
   */
  #begin(): void {
    for (const query of this.#queries.getQueryCache().findAll({ predicate: ({ queryKey }) => restless.has(queryKey[0]) })) {
      if (query.isActive()) this.#paces.concern(query.queryHash, performance.now(), false);
      else query.invalidate();
    }
    this.#plan();
  }

  #all(): void {
    this.#changes.addAll();
    this.#plan();
  }

  #take(change: Change): void {
    this.#changes.add(change);
    this.#plan();
    if (change.kind !== 'run' || this.#state.handlers.size === 0) return;
    this.#runs.push(change.data);
    if (this.#runs.length > 2 * held) this.#runs = this.#runs.slice(-held);
    this.#once('runs', handOver, () => {
      const runs = this.#runs.slice(-held);
      this.#runs = [];
      for (const handler of this.#state.handlers) for (const run of runs) handler(run);
    });
  }

  #plan(): void {
    if (!isSeen()) return;
    const now = performance.now();
    const wanted = this.#changes.any ? now : this.#paces.next(this.#shown());
    if (wanted === undefined) return;
    const at = Math.max(wanted, now + moment, this.#flushed + gather);
    if (this.#timers.flush !== undefined) {
      if (this.#flushAt <= at) return;
      this.#cancel('flush'); // that timer was for a later due time
    }
    this.#flushAt = at;
    this.#once('flush', at - now, () => this.#flush());
  }

  #shown(): Map<string, unknown> {
    const active = this.#queries.getQueryCache().findAll({ type: 'active' });
    return new Map(active.map((query) => [query.queryHash, query.queryKey[0]]));
  }

  #flush(): void {
    const now = performance.now();
    const changes = this.#changes;
    this.#changes = new Changes();
    this.#flushed = now;
    for (const query of this.#queries.getQueryCache().findAll({ predicate: ({ queryKey }) => queryKey[0] !== keys.session[0] })) {
      const { queryHash: hash, queryKey } = query;
      const concerned = changes.concern(queryKey);
      if (!query.isActive()) {
        if (concerned) query.invalidate();
        continue;
      }
      if (concerned) this.#paces.concern(hash, now);
      // A response in flight may be older than the change.
      if (query.state.fetchStatus === 'fetching' || !this.#paces.isDue(hash, queryKey[0], now)) continue;
      this.#paces.asked(hash, now);
      void this.#queries.invalidateQueries({ queryKey, exact: true }).then(() => this.#paces.answered(hash, performance.now() - now));
    }
    this.#plan();
  }
}
