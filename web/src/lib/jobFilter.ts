// Filter and order of a list of jobs, as in the address.

export const jobStates = ['active', 'paused', 'done', 'manual'] as const;
export const jobOrders = ['name', 'nextFire', 'updated', 'group'] as const;

export type JobState = (typeof jobStates)[number];
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
  sort?: JobSort;
}

/** Value in the address for jobs without a group; no group can have this name. */
export const noGroup = '-';

const word = (value: unknown) => (typeof value === 'string' || typeof value === 'number' ? String(value) : '');

/** Parses the filter from the address, which may contain anything. */
export function readJobFilter(search: Record<string, unknown>): JobFilter {
  const group = word(search.group);
  const sort = word(search.sort);
  const order = sort.replace(/^-/, '');
  return {
    q: word(search.q).slice(0, 200) || undefined,
    group: group === noGroup || /^[a-z0-9]([a-z0-9._-]{0,126}[a-z0-9])?$/.test(group) ? group : undefined,
    labels: word(search.labels).slice(0, 1024) || undefined,
    state: jobStates.find((s) => s === search.state),
    sort: sort !== 'name' && jobOrders.some((o) => o === order) ? (sort as JobSort) : undefined,
  };
}

/** Returns the filter as query parameters of the API. */
export function whichJobs({ q, group, labels, state }: JobFilter) {
  return { q, below: group === noGroup ? undefined : group, ungrouped: group === noGroup || undefined, selector: labels, state };
}

export function isNarrowed({ q, group, labels, state }: JobFilter): boolean {
  return [q, group, labels, state].some((part) => part !== undefined);
}

/** Returns the address of a filter, without unset parts. */
export function jobsAddress(filter: JobFilter): string {
  const query = new URLSearchParams();
  for (const part of ['q', 'group', 'labels', 'state', 'sort'] as const) if (filter[part]) query.set(part, filter[part]);
  return query.size === 0 ? '/jobs' : `/jobs?${query}`;
}

/** Returns the same text for equal filters. */
export const filterKey = jobsAddress;

/** Returns the order after a click on a column's head: ascending first, then descending. */
export function sortedBy(now: JobSort | undefined, order: JobOrder): JobSort | undefined {
  const is = now ?? 'name';
  const next = is === order ? (`-${order}` as const) : order;
  return next === 'name' ? undefined : next;
}
