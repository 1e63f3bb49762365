// How busy a worker was, from the runs that it had.

import type { Run } from '../../api/types.ts';

export interface Load {
  /** When each step begins. */
  times: number[];
  /** How many runs it had at once at most; null where not all of them are known. */
  busy: (number | null)[];
  /** Runs that ended, well and otherwise. */
  well: (number | null)[];
  badly: (number | null)[];
}

/** Steps from one time to another. A run counts in each step that it was going on in, and as ended in one. */
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
  // Where one ends when another begins there were not both at once.
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
