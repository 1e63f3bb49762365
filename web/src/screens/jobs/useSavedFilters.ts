import { isNarrowed, type JobFilter } from '../../lib/jobFilter.ts';
import { useStored } from '../../lib/stored.ts';
import { readSaved, savedAs, withSaved, type SavedFilter } from './saved.ts';

export interface Saved {
  saved: SavedFilter[];
  /** The saved filter that is active. */
  is: SavedFilter | undefined;
  /** The active filter has no name yet. */
  maySave: boolean;
  save: (name: string) => void;
  forget: (one: SavedFilter) => void;
}

/** The saved filters of this browser, and whether the current one is among them. */
export function useSavedFilters(filter: JobFilter): Saved {
  const [saved, setSaved] = useStored('carillon-job-filters', readSaved);
  const is = savedAs(saved, filter);
  return {
    saved, is, maySave: is === undefined && (isNarrowed(filter) || filter.sort !== undefined),
    save: (name) => setSaved(withSaved(saved, { name, filter })), forget: (one) => setSaved(saved.filter((other) => other !== one)),
  };
}
