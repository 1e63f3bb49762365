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
  /** What the runs that ended in a step have used: CPU time in milliseconds, the highest memory of one, bytes. */
  cpuMs: (number | null)[];
  memory: (number | null)[];
  read: (number | null)[];
  written: (number | null)[];
}

/** Divides a period into steps. A run counts as concurrent in each step that it touches, and as ended in one. */
export function loadOf(runs: readonly Run[], from: number, to: number, step: number, now: number, knownFrom = from): Load {
  const count = Math.max(1, Math.ceil((to - from) / step));
  const times = Array.from({ length: count }, (_, i) => from + i * step);
  const well = times.map(() => 0);
  const badly = times.map(() => 0);
  const [cpuMs, memory, read, written] = [times.map(() => 0), times.map(() => 0), times.map(() => 0), times.map(() => 0)];
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
    cpuMs[at] = (cpuMs[at] ?? 0) + 1000 * (run.cpuSeconds ?? 0);
    memory[at] = Math.max(memory[at] ?? 0, run.maxRssBytes ?? 0);
    read[at] = (read[at] ?? 0) + (run.readBytes ?? 0);
    written[at] = (written[at] ?? 0) + (run.writtenBytes ?? 0);
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
  return { times, busy: known(busy), well: known(well), badly: known(badly), cpuMs: known(cpuMs), memory: known(memory), read: known(read), written: known(written) };
}

/** What the ended runs of a job have used. */
export interface JobCost {
  job: string;
  title: string | undefined;
  runs: number;
  cpuSeconds: number;
  memoryBytes: number;
}

/** Returns the jobs whose ended runs have used the most CPU time since a time, at most so many. */
export function costliest(runs: readonly Run[], from: number, most: number): JobCost[] {
  const costs = new Map<string, JobCost>();
  for (const run of runs) {
    if (run.cpuSeconds === undefined || run.endedAt === undefined || Date.parse(run.endedAt) < from) continue;
    const cost = costs.get(run.job) ?? { job: run.job, title: run.jobTitle, runs: 0, cpuSeconds: 0, memoryBytes: 0 };
    cost.runs++;
    cost.cpuSeconds += run.cpuSeconds;
    cost.memoryBytes = Math.max(cost.memoryBytes, run.maxRssBytes ?? 0);
    costs.set(run.job, cost);
  }
  return [...costs.values()].sort((a, b) => b.cpuSeconds - a.cpuSeconds || a.job.localeCompare(b.job)).slice(0, most);
}
