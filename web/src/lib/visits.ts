// The pages recently visited in this browser, which the palette offers.

export interface Visit {
  path: string;
  title: string;
}

const storageKey = 'carillon-visits';
const kept = 12;

interface Stored {
  who: string;
  visits: Visit[];
}

function isStored(value: unknown): value is Stored {
  return typeof value === 'object' && value !== null && 'who' in value && 'visits' in value && Array.isArray(value.visits);
}

/** Adds a visit as the latest; each page is listed once. */
export function withVisit(visits: readonly Visit[], visit: Visit): Visit[] {
  return [visit, ...visits.filter(({ path }) => path !== visit.path)].slice(0, kept);
}

/** The user's visits, latest first; those of other users are not included. */
export function visitsOf(who: string): Visit[] {
  try {
    const stored: unknown = JSON.parse(window.localStorage.getItem(storageKey) ?? 'null');
    return isStored(stored) && stored.who === who ? stored.visits : [];
  } catch {
    return []; // storage may be blocked, or contain anything
  }
}

export function rememberVisit(who: string, visit: Visit): void {
  try {
    window.localStorage.setItem(storageKey, JSON.stringify({ who, visits: withVisit(visitsOf(who), visit) }));
  } catch {
    // Storage may be blocked or full: nothing depends on it.
  }
}

export function forgetVisits(): void {
  try {
    window.localStorage.removeItem(storageKey);
  } catch {
    // It was never stored then.
  }
}
