// The effect of a change of defaults, for its review.

import type { AffectedJob, Defaults, DefaultsReview, JobDefaults } from '../api/types.ts';
import { inheritable } from './effective.ts';

/** A review as it is shown. */
export interface ReviewParts {
  refused: readonly AffectedJob[];
  changed: readonly AffectedJob[];
  /** Number of different fields of the listed jobs that change. */
  fields: number;
  /** Number of refused and changed jobs that are not listed. */
  unlisted: number;
}

/** Separates the jobs that are refused from those that change. */
export function reviewParts(review: DefaultsReview): ReviewParts {
  const refused = review.items.filter((item) => (item.faults ?? []).length > 0);
  const changed = review.items.filter((item) => (item.faults ?? []).length === 0);
  return { refused, changed, fields: new Set(changed.flatMap((item) => item.fields)).size, unlisted: Math.max(0, review.changed + review.refused - review.items.length) };
}

/** Returns the values of defaults without the parts that the server adds, in display order. */
export function valuesOf(defaults: Partial<JobDefaults>): Defaults {
  return Object.fromEntries(inheritable.flatMap((field) => (defaults[field] === undefined ? [] : [[field, defaults[field]]])));
}

/** Returns the fields that defaults set. */
export function fieldsOf(defaults: Partial<JobDefaults>): (typeof inheritable)[number][] {
  return inheritable.filter((field) => defaults[field] !== undefined);
}
