// When to refetch an affected query. Decides only; live.ts has the clock.

/** Minimum time between two requests of the same query, in milliseconds. */
const atLeast = 1000;
// Queries that are expensive for the server or change little with each event.
const calmer: Record<string, number> = { overview: 2000, placements: 2000, statistics: 10_000, groups: 5000, labels: 5000, forecast: 10_000 };
// A query may take at most this share of the time: slow queries are refetched less often. A cap keeps one slow answer,
// caused by a slow store, from delaying updates for long.
const share = 10;
const atMost = 10_000;
/** Some counts are updated shortly after their event, so one more request follows the last change. */
const echo = 3000;

/** Tolerance for a timer that fires early: a skipped query would wait for the next one. */
const early = 50;

interface Pace {
  asked: number;
  took: number;
  /** When to refetch, and when to refetch again; undefined if nothing is pending. */
  due?: number | undefined;
  echo?: number | undefined;
}

/** Due times of the queries, by hash. */
export class Paces {
  readonly #of = new Map<string, Pace>();

  /** Changes affect the query. Without the second request if no event has just arrived. */
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

  /** Returns when the first of these queries is due. Queries that are no longer shown are dropped. */
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
