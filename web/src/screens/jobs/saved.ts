// Named filters, stored on the server.

import type { View, ViewDefinition } from '../../api/types.ts';
import { readAddress } from '../../lib/address.ts';
import { filterKey, jobsAddress, readJobFilter, type JobFilter } from '../../lib/jobFilter.ts';

export interface SavedFilter {
  id: string;
  name: string;
  filter: JobFilter;
  /** Visible to all users. */
  shared: boolean;
}

/** Views may be written by other programs: their filters may be anything. */
export function savedOf(views: readonly Pick<View, 'id' | 'name' | 'query' | 'shared'>[]): SavedFilter[] {
  return views.map(({ id, name, query, shared }) => ({ id, name, shared, filter: readJobFilter(readAddress(query)) }));
}

export function definitionOf(name: string, filter: JobFilter, shared: boolean): ViewDefinition {
  return { name, query: jobsAddress(filter).split('?')[1] ?? '', shared };
}

export function savedAs(saved: readonly SavedFilter[], filter: JobFilter): SavedFilter | undefined {
  return saved.find((one) => filterKey(one.filter) === filterKey(filter));
}

/** Returns the saved filter that a name replaces. */
export function named(saved: readonly SavedFilter[], name: string, shared: boolean): SavedFilter | undefined {
  return saved.find((one) => one.name === name && one.shared === shared);
}

/** A new id. */
export function freshId(): string {
  return [...crypto.getRandomValues(new Uint8Array(8))].map((byte) => byte.toString(16).padStart(2, '0')).join('');
}

/** Filters that earlier versions stored in this browser. The stored value may be anything. */
export function readLocal(value: unknown): { name: string; filter: JobFilter }[] {
  if (!Array.isArray(value)) return [];
  return value.slice(0, 50).flatMap((item: unknown) => {
    if (typeof item !== 'object' || item === null || !('name' in item) || typeof item.name !== 'string' || item.name.trim() === '') return [];
    const filter = 'filter' in item && typeof item.filter === 'object' && item.filter !== null ? (item.filter as Record<string, unknown>) : {};
    return [{ name: item.name.trim().slice(0, 60), filter: readJobFilter(filter) }];
  });
}
