// Last known state of recent runs. In a busy cluster the list of the newest runs covers only a few seconds: a run that
// has left it stays here until a list of the whole range contains it.

import type { RunEvent } from './liveChanges.ts';
import type { Run, RunStatus } from './types.ts';

/** Maximum number of remembered runs; the oldest are dropped. */
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

  /** Updates a known run. */
  update({ id, status, endedAt, exitCode }: RunEvent, at: number): void {
    const seen = this.#runs.get(id);
    // An ended run does not change; an event may arrive after its result was read.
    if (!seen || seen.run.endedAt !== undefined) return;
    const run = { ...seen.run, status: status as RunStatus, ...(endedAt !== undefined && { endedAt }), ...(exitCode !== undefined && { exitCode }) };
    this.#runs.set(id, { run, at });
  }

  /** Returns the runs that were seen after a time; earlier ones are covered by a list from that time. */
  after(time: number): Run[] {
    for (const [id, { at }] of this.#runs) if (at < time) this.#runs.delete(id);
    return Array.from(this.#runs.values(), ({ run }) => run);
  }
}
