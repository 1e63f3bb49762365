// Named filters, stored in this browser.

import { filterKey, readJobFilter, type JobFilter } from '../../lib/jobFilter.ts';

export interface SavedFilter {
  name: string;
  filter: JobFilter;
}

const most = 50;

/** The stored value may be anything. */
export function readSaved(value: unknown): SavedFilter[] {
  if (!Array.isArray(value)) return [];
  return value.slice(0, most).flatMap((item: unknown) => {
    if (typeof item !== 'object' || item === null || !('name' in item) || typeof item.name !== 'string' || item.name === '') return [];
    const filter = 'filter' in item && typeof item.filter === 'object' && item.filter !== null ? (item.filter as Record<string, unknown>) : {};
    return [{ name: item.name, filter: readJobFilter(filter) }];
  });
}

/** Adds or replaces a named filter; sorted by name. */
export function withSaved(saved: readonly SavedFilter[], added: SavedFilter): SavedFilter[] {
  return [...saved.filter((one) => one.name !== added.name), added].sort((a, b) => a.name.localeCompare(b.name)).slice(0, most);
}

export function savedAs(saved: readonly SavedFilter[], filter: JobFilter): SavedFilter | undefined {
  return saved.find((one) => filterKey(one.filter) === filterKey(filter));
}
