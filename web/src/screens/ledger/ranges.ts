import { fireChoices, type FireChoice, type Stretch } from '../../api/fires.ts';

const hour = 3_600_000;
const day = 24 * hour;

/** The offered time ranges. Relative ones are in milliseconds from now. */
export const ranges = {
  all: {},
  hour: { from: -hour },
  day: { from: -day },
  week: { from: -7 * day },
  around: { from: -hour, to: hour },
  nextHour: { from: 0, to: hour },
  nextDay: { from: 0, to: day },
  nextWeek: { from: 0, to: 7 * day },
} as const satisfies Record<string, Stretch>;

export type Range = keyof typeof ranges | 'custom';

export interface LedgerSearch {
  job?: string | undefined;
  group?: string | undefined;
  /** One status, or several separated by commas. */
  status?: string | undefined;
  range?: string | undefined;
  from?: string | undefined;
  to?: string | undefined;
  /** Set: without acknowledged failures. */
  open?: string | undefined;
}

/** Returns the range of an address; for planned fires without a range, the next day. */
export function rangeOf(search: LedgerSearch): Range {
  if (search.range === 'custom' || (search.range !== undefined && Object.hasOwn(ranges, search.range))) return search.range as Range;
  return search.status === 'planned' ? 'nextDay' : 'all';
}

/** Returns the statuses of an address. */
export function statusesOf(search: LedgerSearch): FireChoice[] {
  const named = search.status?.split(',') ?? [];
  return fireChoices.filter((status) => named.includes(status));
}

export function stretchOf(search: LedgerSearch): Stretch {
  const range = rangeOf(search);
  return range === 'custom' ? { from: search.from, to: search.to } : ranges[range];
}

/** The range to summarize, relative to now or in times, if it is past and long enough to be divided. */
export function summaryOf(search: LedgerSearch, now: number): Stretch | undefined {
  const range = rangeOf(search);
  if (range === 'all') return { from: -30 * day };
  if (range === 'day' || range === 'week') return ranges[range];
  if (range !== 'custom') return undefined;
  const from = search.from === undefined ? now - 30 * day : Date.parse(search.from);
  const to = Math.min(now, search.to === undefined ? now : Date.parse(search.to));
  return to - from > 2 * hour ? { from: search.from ?? -30 * day, to: search.to } : undefined;
}

/** Returns the address without defaults. */
export function cleaned(search: LedgerSearch): LedgerSearch {
  const custom = search.range === 'custom';
  const kept = { ...search, from: custom ? search.from : undefined, to: custom ? search.to : undefined };
  return Object.fromEntries(Object.entries(kept).filter(([, value]) => value !== undefined && value !== '')) as LedgerSearch;
}
