// What a list of jobs is narrowed and ordered by, as the address has it.

export const jobStates = ['active', 'paused', 'done', 'manual'] as const;
export const jobOrders = ['name', 'nextFire', 'updated', 'group'] as const;

export type JobState = (typeof jobStates)[number];
export type JobOrder = (typeof jobOrders)[number];
export type JobSort = JobOrder | `-${JobOrder}`;

export interface JobFilter {
  /** A part of the name or the title. */
  q?: string;
  /** A group with all that is below it; noGroup for the jobs that are in none. */
  group?: string;
  /** A selector of labels. */
  labels?: string;
  state?: JobState;
  sort?: JobSort;
}

/** Stands in the address for the jobs that are in no group; no group can have this name. */
export const noGroup = '-';

const word = (value: unknown) => (typeof value === 'string' || typeof value === 'number' ? String(value) : '');

/** Reads the filter from the address, where anybody may have written anything. */
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

/** What narrows the list, as the API asks for it. */
export function whichJobs({ q, group, labels, state }: JobFilter) {
  return { q, below: group === noGroup ? undefined : group, ungrouped: group === noGroup || undefined, selector: labels, state };
}

export function isNarrowed({ q, group, labels, state }: JobFilter): boolean {
  return [q, group, labels, state].some((part) => part !== undefined);
}

/** The filter as the address has it: what is not set is not there. */
export function jobsAddress(filter: JobFilter): string {
  const query = new URLSearchParams();
  for (const part of ['q', 'group', 'labels', 'state', 'sort'] as const) if (filter[part]) query.set(part, filter[part]);
  return query.size === 0 ? '/jobs' : `/jobs?${query}`;
}

/** One text for filters that are the same. */
export const filterKey = jobsAddress;

/** What a click on a column's head asks for: it first, then the other way round. */
export function sortedBy(now: JobSort | undefined, order: JobOrder): JobSort | undefined {
  const is = now ?? 'name';
  const next = is === order ? (`-${order}` as const) : order;
  return next === 'name' ? undefined : next;
}
