// Filter and order of a list of jobs, as in the address.

import { isGroup } from './groups.ts';

export const jobStates = ['active', 'paused', 'done', 'manual'] as const;
export const jobOrders = ['name', 'nextFire', 'lastRun', 'duration', 'success', 'updated', 'group'] as const;
/** Properties of jobs that their runs or notifications show. */
export const jobTraits = ['failing', 'running', 'late', 'never_ran', 'not_due', 'skipping', 'unnotified'] as const;

export type JobState = (typeof jobStates)[number];
export type JobTrait = (typeof jobTraits)[number];
export type JobOrder = (typeof jobOrders)[number];
export type JobSort = JobOrder | `-${JobOrder}`;

export interface JobFilter {
  /** A part of the name or the title. */
  q?: string;
  /** A group with its subgroups; noGroup for the jobs without a group. */
  group?: string;
  /** A label selector. */
  labels?: string;
  state?: JobState;
  /** Traits, all of which a job must have, separated by commas. */
  is?: string;
  sort?: JobSort;
}

/** Value in the address for jobs without a group; no group can have this name. */
export const noGroup = '-';

/** Returns the traits of a filter, in their order. */
export function traitsOf(is: string | undefined): JobTrait[] {
  const parts = (is ?? '').split(',');
  return jobTraits.filter((trait) => parts.includes(trait));
}

/** Adds a trait to those of a filter, or removes it. */
export function toggledTrait(is: string | undefined, trait: JobTrait): string | undefined {
  const now = traitsOf(is);
  return joined(now.includes(trait) ? now.filter((other) => other !== trait) : [...now, trait]);
}

const joined = (traits: readonly JobTrait[]) => jobTraits.filter((trait) => traits.includes(trait)).join(',') || undefined;

const word = (value: unknown) => (typeof value === 'string' || typeof value === 'number' ? String(value) : '');

/** Parses the filter from the address, which may contain anything. */
export function readJobFilter(search: Record<string, unknown>): JobFilter {
  const group = word(search.group);
  const sort = word(search.sort);
  const order = sort.replace(/^-/, '');
  return {
    q: word(search.q).slice(0, 200) || undefined,
    group: group === noGroup || isGroup(group) ? group : undefined,
    labels: word(search.labels).slice(0, 1024) || undefined,
    state: jobStates.find((s) => s === search.state),
    is: joined(traitsOf(word(search.is))),
    sort: sort !== 'name' && jobOrders.some((o) => o === order) ? (sort as JobSort) : undefined,
  };
}

/** Returns the filter as query parameters of the API. */
export function whichJobs({ q, group, labels, state, is }: JobFilter) {
  const traits = traitsOf(is);
  return { is: traits.length > 0 ? traits : undefined, q, below: group === noGroup ? undefined : group, ungrouped: group === noGroup || undefined, selector: labels, state };
}

export function isNarrowed({ q, group, labels, state, is }: JobFilter): boolean {
  return [q, group, labels, state, is].some((part) => part !== undefined);
}

/** Returns the address of a filter, without unset parts. */
export function jobsAddress(filter: JobFilter): string {
  const query = new URLSearchParams();
  for (const part of ['q', 'group', 'labels', 'state', 'is', 'sort'] as const) if (filter[part]) query.set(part, filter[part]);
  return query.size === 0 ? '/jobs' : `/jobs?${query}`;
}

/** Returns the same text for equal filters. */
export const filterKey = jobsAddress;

// Of these the newest, or the longest, is usually wanted.
const descendingFirst: readonly JobOrder[] = ['lastRun', 'duration'];

/** Returns the order after a click on a column's head: ascending first, then descending, or the reverse. */
export function sortedBy(now: JobSort | undefined, order: JobOrder): JobSort | undefined {
  const is = now ?? 'name';
  const [first, second] = descendingFirst.includes(order) ? ([`-${order}`, order] as const) : ([order, `-${order}`] as const);
  const next = is === first ? second : first;
  return next === 'name' ? undefined : next;
}
