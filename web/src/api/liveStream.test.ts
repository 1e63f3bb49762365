// @vitest-environment happy-dom
import { QueryClient, QueryObserver } from '@tanstack/react-query';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { Connectivity } from './connectivity.ts';
import { keys } from './keys.ts';
import { LiveStream, type LiveState } from './liveStream.ts';

class Source extends EventTarget {
  static opened: Source[] = [];
  readonly url: string;
  closed = false;

  constructor(url: string) {
    super();
    this.url = url;
    Source.opened.push(this);
  }

  close(): void {
    this.closed = true;
  }

  tell(type: string, data: object, lastEventId = ''): void {
    this.dispatchEvent(new MessageEvent(type, { data: JSON.stringify(data), lastEventId }));
  }
}

const run = (id: string) => ({ id, job: 'nightly', jobUid: 'u', fire: 'f', plannedAt: '2026-01-01T00:00:00Z', cause: 'cron', attempt: 1, status: 'running' });
let hidden = false;
let state: LiveState;
let connectivity: Connectivity;
let queries: QueryClient;
let stream: LiveStream;
const last = () => Source.opened[Source.opened.length - 1] as Source;
const show = (isHidden: boolean) => {
  hidden = isHidden;
  document.dispatchEvent(new Event('visibilitychange'));
};

beforeEach(() => {
  vi.useFakeTimers();
  vi.stubGlobal('EventSource', Source);
  vi.spyOn(document, 'hidden', 'get').mockImplementation(() => hidden);
  hidden = false;
  Source.opened = [];
  state = { connected: false, handlers: new Set() };
  connectivity = new Connectivity();
  queries = new QueryClient({ defaultOptions: { queries: { retry: false } } });
  stream = new LiveStream(queries, connectivity, state);
});

afterEach(() => {
  stream.stop();
  queries.clear();
  vi.restoreAllMocks();
  vi.unstubAllGlobals();
  vi.useRealTimers();
});

/** Mounts an observer of this query; returns the number of its requests. */
async function shown(queryKey: readonly unknown[]): Promise<() => number> {
  let asked = 0;
  new QueryObserver(queries, { queryKey, queryFn: () => Promise.resolve(++asked) }).subscribe(() => undefined);
  await vi.advanceTimersByTimeAsync(0);
  return () => asked;
}

it('refetches once for many changes, and only affected queries', async () => {
  last().tell('ready', { revision: 7 }, '7');
  await vi.advanceTimersByTimeAsync(2000);
  const [list, workers] = [await shown(keys.runList({}, '')), await shown(keys.workers)];
  expect(state.connected).toBe(true);
  for (let i = 0; i < 500; i++) last().tell('run', run(`r${i}`), String(8 + i));
  await vi.advanceTimersByTimeAsync(900);
  expect([list(), workers()]).toEqual([2, 1]);
  for (let second = 0; second < 10; second++) {
    for (let i = 0; i < 50; i++) last().tell('run', run(`r${second}-${i}`));
    await vi.advanceTimersByTimeAsync(1000);
  }
  expect(list()).toBeGreaterThanOrEqual(9);
  expect(list()).toBeLessThanOrEqual(13);
  expect(workers()).toBe(1);
});

it('closes the connection while the tab is hidden, and continues afterwards', async () => {
  const list = await shown(keys.runList({}, ''));
  last().tell('ready', { revision: 7 }, '7');
  last().tell('run', run('r1'), '9');
  await vi.advanceTimersByTimeAsync(10_000);
  const before = list();
  show(true);
  await vi.advanceTimersByTimeAsync(4000);
  show(false);
  await vi.advanceTimersByTimeAsync(4000);
  expect(Source.opened).toHaveLength(1);
  show(true);
  last().tell('run', run('r2'), '11');
  await vi.advanceTimersByTimeAsync(60_000);
  expect([last().closed, state.connected, list()]).toEqual([true, false, before]);
  show(false);
  expect(Source.opened).toHaveLength(2);
  expect(last().url).toBe('/api/v1/events?since=11');
  await vi.advanceTimersByTimeAsync(1000);
  expect(list()).toBe(before + 1);
});

it('refetches once the data loaded before the stream opened', async () => {
  const [list, users] = [await shown(keys.runList({}, '')), await shown(keys.users)];
  last().tell('ready', { revision: 7 }, '7');
  await vi.advanceTimersByTimeAsync(10_000);
  expect([list(), users()]).toEqual([2, 1]);
  last().dispatchEvent(new Event('error'));
  await vi.advanceTimersByTimeAsync(2000);
  last().tell('ready', { revision: 9 }, '9');
  await vi.advanceTimersByTimeAsync(10_000);
  expect([list(), users()]).toEqual([2, 1]);
});

it('reconnects with backoff, and checks the session', async () => {
  const [session, list] = [await shown(keys.session), await shown(keys.runList({}, ''))];
  for (let i = 0; i < 8; i++) {
    last().dispatchEvent(new Event('error'));
    expect([last().closed, state.connected]).toEqual([true, false]);
    await vi.advanceTimersByTimeAsync(30_000);
    expect(Source.opened).toHaveLength(i + 2);
  }
  expect(session()).toBe(9);
  expect(list()).toBeGreaterThan(1);
  last().dispatchEvent(new Event('error'));
  await vi.advanceTimersByTimeAsync(14_000);
  expect(Source.opened).toHaveLength(9);
});

it('waits while the server is unreachable, and reconnects with it', async () => {
  last().tell('ready', { revision: 7 }, '7');
  connectivity.report(true);
  expect(last().closed).toBe(true);
  await vi.advanceTimersByTimeAsync(120_000);
  expect(Source.opened).toHaveLength(1);
  connectivity.report(false);
  expect(Source.opened).toHaveLength(2);
  expect(last().url).toBe('/api/v1/events?since=7');
});

it('refetches everything after missed events', async () => {
  const users = await shown(keys.users);
  last().tell('ready', { revision: 7 }, '7');
  await vi.advanceTimersByTimeAsync(2000);
  expect(users()).toBe(1);
  last().tell('reset', { revision: 99 }, '99');
  await vi.advanceTimersByTimeAsync(2000);
  expect(users()).toBe(2);
});

it('passes run events on in batches, and keeps the newest if there are too many', async () => {
  const received: string[] = [];
  state.handlers.add(({ id }) => received.push(id));
  for (let i = 0; i < 5000; i++) last().tell('run', run(`r${i}`));
  expect(received).toEqual([]);
  await vi.advanceTimersByTimeAsync(300);
  expect(received).toHaveLength(1000);
  expect(received.at(-1)).toBe('r4999');
});

it('closes its connection as the page is left, since no timer runs after that', () => {
  last().tell('ready', { revision: 7 }, '7');
  window.dispatchEvent(new Event('pagehide'));
  expect(last().closed).toBe(true);
  show(true);
  vi.advanceTimersByTime(60_000);
  expect(Source.opened).toHaveLength(1);
  window.dispatchEvent(new Event('pageshow'));
  show(false);
  expect(Source.opened).toHaveLength(2);
  expect(last().url).toContain('since=7');
});
