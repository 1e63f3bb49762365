// When a query that changes concern is asked again. Decides only; live.ts has the clock.

/** Between two times that the same query is asked, in milliseconds. */
const atLeast = 1000;
// What is dear to the server, or changes little with each event.
const calmer: Record<string, number> = { overview: 2000, placements: 2000, statistics: 10_000, groups: 5000, labels: 5000, forecast: 10_000 };
// A query is asked for at most this part of the time: one that is answered slowly is asked less often. But one slow answer,
// from a server that had to wait for its store, is no reason to show what is old for long.
const share = 10;
const atMost = 10_000;
/** Some counts are updated shortly after their event, so the last change is followed by another request. */
const echo = 3000;

/** A timer may come a little early, and who is passed over waits for the next one. */
const early = 50;

interface Pace {
  asked: number;
  took: number;
  /** When to ask again, and once more; undefined when nothing is owed. */
  due?: number | undefined;
  echo?: number | undefined;
}

/** For each query, by its hash, when it is due. */
export class Paces {
  readonly #of = new Map<string, Pace>();

  /** Changes concern the query. Without the echo if no event has just arrived. */
  concern(hash: string, now: number, echoes = true): void {
    const pace = this.#of.get(hash) ?? { asked: -Infinity, took: 0 };
    pace.due ??= now;
    if (echoes) pace.echo = now + echo;
    this.#of.set(hash, pace);
  }

  /** Reports whether to send a request now; the caller then reports that it does. */
  isDue(hash: string, first: unknown, now: number): boolean {
    const at = this.#at(hash, first);
    return at !== undefined && at <= now + early;
  }

  asked(hash: string, now: number): void {
    const pace = this.#of.get(hash);
    if (!pace) return;
    pace.asked = now;
    pace.due = undefined;
    if (pace.echo !== undefined && pace.echo <= now) pace.echo = undefined;
  }

  answered(hash: string, took: number): void {
    const pace = this.#of.get(hash);
    if (pace) pace.took = took;
  }

  /** When the first of these queries is due. Others are dropped, because they are not shown. */
  next(queries: ReadonlyMap<string, unknown>): number | undefined {
    let first: number | undefined;
    for (const hash of this.#of.keys()) {
      if (!queries.has(hash)) this.#of.delete(hash);
      const at = this.#at(hash, queries.get(hash));
      if (at !== undefined && (first === undefined || at < first)) first = at;
    }
    return first;
  }

  #at(hash: string, first: unknown): number | undefined {
    const pace = this.#of.get(hash);
    const wanted = pace?.due ?? pace?.echo;
    if (!pace || wanted === undefined) return undefined;
    return Math.max(wanted, pace.asked + Math.max(calmer[String(first)] ?? atLeast, Math.min(pace.took * share, atMost)));
  }
}
