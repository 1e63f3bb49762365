import type { Mode } from './conditions.ts';

/** A problem as it is shown: active, or over but likely to recur. */
export interface HeldMode extends Mode {
  /** It is over at the moment. */
  over: boolean;
}

interface History {
  mode: Mode;
  /** When it began, as far as this tab saw it, the newest last. */
  starts: number[];
  /** When it was last active. */
  last: number;
  active: boolean;
}

const recent = 15 * 60_000;
/** How long a problem that comes and goes stays after it is over. */
const held = 6 * 60_000;

/**
 * Keeps a problem that recurs within minutes, so that its banner does not come and go with it. One that began only once
 * is gone as soon as it is over.
 */
export class HeldModes {
  readonly #known = new Map<string, History>();

  /** Takes the active problems, and returns those to show, in the given order; held ones are last. */
  take(modes: readonly Mode[], now: number): HeldMode[] {
    const active = new Map(modes.map((mode) => [mode.id, mode]));
    for (const [id, history] of this.#known) {
      if (active.has(id)) continue;
      history.active = false;
      if (now - history.last > recent) this.#known.delete(id);
    }
    for (const mode of modes) {
      const history = this.#known.get(mode.id) ?? { mode, starts: [], last: now, active: false };
      if (!history.active) history.starts = [...history.starts.filter((at) => now - at < recent), now];
      this.#known.set(mode.id, Object.assign(history, { mode, last: now, active: true }));
    }
    const over = [...this.#known.values()].filter(({ active, starts, last }) => !active && starts.length > 1 && now - last < held);
    return [...modes.map((mode) => ({ ...mode, over: false })), ...over.map(({ mode }) => ({ ...mode, over: true }))];
  }
}
