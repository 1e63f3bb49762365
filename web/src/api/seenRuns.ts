// Runs as they were seen last. Of a busy cluster the list of the newest holds a few seconds only: a run that has left it is still
// known, until a list of the whole stretch has it.

import type { RunEvent } from './liveChanges.ts';
import type { Run, RunStatus } from './types.ts';

/** More than these are not remembered: the first ones seen are given up. */
export const mostSeen = 4000;

export class SeenRuns {
  readonly #runs = new Map<string, { run: Run; at: number }>();

  saw(runs: readonly Run[], at: number): void {
    for (const run of runs) {
      this.#runs.delete(run.id);
      this.#runs.set(run.id, { run, at });
    }
    for (const id of this.#runs.keys()) {
      if (this.#runs.size <= mostSeen) return;
      this.#runs.delete(id);
    }
  }

  /** Takes in what became of a run that is known. */
  heard({ id, status, endedAt, exitCode }: RunEvent, at: number): void {
    const seen = this.#runs.get(id);
    // What has ended stays so; an event may come after what it tells of was read.
    if (!seen || seen.run.endedAt !== undefined) return;
    const run = { ...seen.run, status: status as RunStatus, ...(endedAt !== undefined && { endedAt }), ...(exitCode !== undefined && { exitCode }) };
    this.#runs.set(id, { run, at });
  }

  /** Those known later than a time: of what is older, a list of that time tells. */
  after(time: number): Run[] {
    for (const [id, { at }] of this.#runs) if (at < time) this.#runs.delete(id);
    return Array.from(this.#runs.values(), ({ run }) => run);
  }
}
