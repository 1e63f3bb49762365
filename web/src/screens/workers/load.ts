// Load of a worker, computed from its runs.

import type { Run } from '../../api/types.ts';

export interface Load {
  /** Start of each step. */
  times: number[];
  /** Highest number of concurrent runs; null if some are unknown. */
  busy: (number | null)[];
  /** Ended runs: successful and others. */
  well: (number | null)[];
  badly: (number | null)[];
}

/** Divides a period into steps. A run counts as concurrent in each step that it touches, and as ended in one. */
export function loadOf(runs: readonly Run[], from: number, to: number, step: number, now: number, knownFrom = from): Load {
  const count = Math.max(1, Math.ceil((to - from) / step));
  const times = Array.from({ length: count }, (_, i) => from + i * step);
  const well = times.map(() => 0);
  const badly = times.map(() => 0);
  const changes: [number, number][] = [];
  for (const run of runs) {
    const begin = Date.parse(run.startedAt ?? run.claimedAt ?? '');
    if (Number.isNaN(begin)) continue;
    const end = run.endedAt ? Date.parse(run.endedAt) : now;
    changes.push([begin, 1], [end, -1]);
    const at = Math.floor((end - from) / step);
    if (!run.endedAt || at < 0 || at >= count) continue;
    const into = run.status === 'succeeded' ? well : badly;
    into[at] = (into[at] ?? 0) + 1;
  }
  // Runs that touch only at their ends are not concurrent.
  changes.sort((a, b) => a[0] - b[0] || a[1] - b[1]);
  const busy = times.map(() => 0);
  let going = 0;
  let next = 0;
  times.forEach((time, i) => {
    while (next < changes.length && (changes[next]?.[0] ?? 0) < time) going += changes[next++]?.[1] ?? 0;
    let most = going;
    while (next < changes.length && (changes[next]?.[0] ?? 0) < time + step) most = Math.max(most, (going += changes[next++]?.[1] ?? 0));
    busy[i] = most;
  });
  const known = (values: number[]) => values.map((value, i) => ((times[i] ?? 0) + step > knownFrom ? value : null));
  return { times, busy: known(busy), well: known(well), badly: known(badly) };
}
