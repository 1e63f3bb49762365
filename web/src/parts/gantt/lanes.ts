// Assigns bars to lanes, and to lines within a lane.

import { reachOf, type Bar } from './bars.ts';

export type LaneBy = 'job' | 'worker';

export interface Placed {
  bar: Bar;
  /** Line within the lane, from the top. */
  line: number;
}

export interface Lane {
  id: string;
  /** A collapsible group, or a job or worker. */
  kind: 'group' | 'one';
  name: string;
  /** Title of the job of the lane, if it has one. */
  title?: string | undefined;
  /** The group of the lane. */
  group: string;
  closed: boolean;
  /** By start. */
  bars: Placed[];
  lines: number;
}

/** Maximum number of lines of a lane; further bars are drawn in the last one. */
const mostLines = 3;

/** Assigns each bar to the first line that is free at its start. */
export function pack(bars: readonly Bar[], now: number): { bars: Placed[]; lines: number } {
  const ends: number[] = [];
  const placed = [...bars].sort((a, b) => a.from - b.from || a.id.localeCompare(b.id)).map((bar) => {
    let line = ends.findIndex((end) => end <= bar.from);
    if (line < 0) line = Math.min(ends.length, mostLines - 1);
    // A bar without length occupies its line for a moment; otherwise bars with the same start would hide each other.
    ends[line] = Math.max(ends[line] ?? 0, reachOf(bar, now), bar.from + 1);
    return { bar, line };
  });
  return { bars: placed, lines: Math.max(1, ends.length) };
}

const compare = (a: string, b: string) => (a < b ? -1 : a > b ? 1 : 0);

function gather(bars: readonly Bar[], keyOf: (bar: Bar) => string): [string, Bar[]][] {
  const found = new Map<string, Bar[]>();
  for (const bar of bars) {
    const list = found.get(keyOf(bar));
    if (list) list.push(bar);
    else found.set(keyOf(bar), [bar]);
  }
  return [...found].sort(([a], [b]) => compare(a, b));
}

/** The group of each job as it is now: that of its newest bar. A job that was moved has bars of both groups. */
function groupsOf(bars: readonly Bar[]): Map<string, string> {
  const newest = new Map<string, Bar>();
  for (const bar of bars) {
    const known = newest.get(bar.job);
    if (!known || bar.from > known.from) newest.set(bar.job, bar);
  }
  return new Map([...newest].map(([job, bar]) => [job, bar.group]));
}

/**
 * Returns a lane for each job below its group, or for each worker. Jobs without a group come first and have no heading;
 * a collapsed group is one lane with all of its bars. Without groups there are no headings.
 */
export function lanesOf(bars: readonly Bar[], by: LaneBy, closed: ReadonlySet<string>, now: number): Lane[] {
  if (by === 'worker') {
    const named = gather(bars.filter((bar) => bar.run?.worker), (bar) => bar.run?.workerName ?? bar.run?.worker ?? '');
    const none = bars.filter((bar) => !bar.run?.worker);
    const lanes = named.map(([name, own]) => ({ id: `w ${name}`, kind: 'one' as const, name, group: '', closed: false, ...pack(own, now) }));
    return none.length > 0 ? [...lanes, { id: 'w', kind: 'one', name: '', group: '', closed: false, ...pack(none, now) }] : lanes;
  }
  const groups = groupsOf(bars);
  return gather(bars, (bar) => groups.get(bar.job) ?? bar.group).flatMap(([group, own]): Lane[] => {
    const shut = group !== '' && closed.has(group);
    const jobs = shut ? [] : gather(own, (bar) => bar.job).map(([name, of]): Lane => ({ id: `j ${name}`, kind: 'one', name, title: of.find((bar) => bar.title)?.title, group, closed: false, ...pack(of, now) }));
    const head: Lane = { id: `g ${group}`, kind: 'group', name: group, group, closed: shut, ...(shut ? pack(own, now) : { bars: [], lines: 1 }) };
    return group === '' ? jobs : [head, ...jobs];
  });
}
