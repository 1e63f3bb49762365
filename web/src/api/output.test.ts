// @vitest-environment happy-dom
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { RunOutput } from './output.ts';

// The client binds the browser's fetch when it is loaded.
const answers = vi.hoisted(() => {
  const waiting: Response[] = [];
  vi.stubGlobal('fetch', () => Promise.resolve(waiting.shift()));
  return waiting;
});

/** A stream that fails at once. */
class Refused extends EventTarget {
  static readonly CLOSED = 2;
  readonly readyState = 2;
  constructor() {
    super();
    queueMicrotask(() => this.dispatchEvent(new Event('error')));
  }
  close(): void {}
}

const problem = (status: number) => new Response(JSON.stringify({ status, code: 'x', detail: 'no' }), { status, headers: { 'Content-Type': 'application/problem+json' } });
const printed = () => new Response('done\n', { headers: { 'Carillon-Output-Complete': 'true', 'Carillon-Next-Offset': '5', 'Carillon-Output-Size': '5' } });

beforeEach(() => {
  vi.useFakeTimers();
  vi.stubGlobal('EventSource', Refused);
});
afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

it.each([401, 429, 503])('continues reading after an answer of %s', async (status) => {
  answers.push(problem(status), printed());
  const output = new RunOutput('r', true, () => undefined);
  const following = output.follow();
  await vi.advanceTimersByTimeAsync(100);
  expect(output.state()).toMatchObject({ complete: false, error: { status } });
  await vi.advanceTimersByTimeAsync(30_000);
  await following;
  expect(output.state()).toMatchObject({ complete: true, error: undefined, size: 5 });
});

it('stops requests for a run that does not exist', async () => {
  answers.push(problem(404), printed());
  const output = new RunOutput('r', true, () => undefined);
  const following = output.follow();
  await vi.advanceTimersByTimeAsync(30_000);
  await following;
  expect(output.state()).toMatchObject({ complete: false, error: { status: 404 } });
  expect(answers.splice(0)).toHaveLength(1);
});

it('leaks no listeners while it waits', async () => {
  const added = vi.spyOn(AbortSignal.prototype, 'addEventListener');
  const removed = vi.spyOn(AbortSignal.prototype, 'removeEventListener');
  for (let i = 0; i < 5; i++) answers.push(new Response('', { headers: { 'Carillon-Output-Complete': 'false', 'Carillon-Next-Offset': '0' } }));
  answers.push(printed());
  const output = new RunOutput('r', true, () => undefined);
  const following = output.follow();
  await vi.advanceTimersByTimeAsync(30_000);
  await following;
  expect(output.state().complete).toBe(true);
  const ofAborts = (spy: typeof added | typeof removed) => spy.mock.calls.filter(([type]) => type === 'abort').length;
  expect(ofAborts(added)).toBeGreaterThan(5);
  expect(ofAborts(removed)).toBe(ofAborts(added));
});
