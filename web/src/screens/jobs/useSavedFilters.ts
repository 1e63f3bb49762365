import { useEffect, useMemo, useRef } from 'react';
import { useSaveView, useViews } from '../../api/views.ts';
import { isNarrowed, type JobFilter } from '../../lib/jobFilter.ts';
import { useStored } from '../../lib/stored.ts';
import { definitionOf, freshId, named, readLocal, savedAs, savedOf, type SavedFilter } from './saved.ts';

export interface Saved {
  saved: SavedFilter[];
  /** The saved filter that is active. */
  is: SavedFilter | undefined;
  /** The active filter has no name yet. */
  maySave: boolean;
}

/** The saved filters, and whether the current one is among them. */
export function useSavedFilters(filter: JobFilter): Saved {
  const views = useViews().data;
  const saved = useMemo(() => savedOf(views?.items ?? []), [views]);
  useImport(views && saved);
  const is = savedAs(saved, filter);
  return { saved, is, maySave: is === undefined && (isNarrowed(filter) || filter.sort !== undefined) };
}

/** Moves filters that an earlier version stored in this browser to the server, once. */
function useImport(saved: readonly SavedFilter[] | undefined) {
  const [local, setLocal] = useStored('carillon-job-filters', readLocal);
  const { mutateAsync } = useSaveView();
  const begun = useRef(false);
  useEffect(() => {
    if (!saved || local.length === 0 || begun.current) return;
    begun.current = true;
    const missing = local.filter(({ name }) => !named(saved, name, false));
    // Those that fail stay for the next time.
    void Promise.allSettled(missing.map(({ name, filter }) => mutateAsync({ id: freshId(), definition: definitionOf(name, filter, false) })))
      .then((results) => setLocal(missing.filter((_, i) => results[i]?.status === 'rejected')));
  }, [saved, local, setLocal, mutateAsync]);
}
