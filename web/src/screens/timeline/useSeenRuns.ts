import { useMemo } from 'react';
import { useLiveRuns } from '../../api/live.ts';
import { SeenRuns } from '../../api/seenRuns.ts';
import type { TimelineFilter } from '../../api/timeline.ts';
import type { Run } from '../../api/types.ts';

/** Maximum age of a list when it arrives: runs seen within this time may be missing from it. */
const making = 5000;

interface Asked<Data> {
  data: Data | undefined;
  dataUpdatedAt: number;
  isPlaceholderData: boolean;
}

/** Recent runs: those in the current list, and earlier ones until a list of the whole range contains them. */
export function useSeenRuns({ job, group, status }: TimelineFilter, fresh: Asked<Run[]>, past: Asked<unknown>): readonly Run[] {
  const seen = useMemo(() => new SeenRuns(), [job, group, status]);
  useLiveRuns((event) => seen.update(event, Date.now()));
  return useMemo(() => {
    // A placeholder result belongs to another filter.
    if (!fresh.data || fresh.isPlaceholderData) return fresh.data ?? [];
    seen.saw(fresh.data, fresh.dataUpdatedAt);
    // An ended run may no longer match a filter by outcome.
    return seen.after(past.isPlaceholderData ? 0 : past.dataUpdatedAt - making).filter((run) => status === undefined || run.status === status);
  }, [seen, status, fresh.data, fresh.dataUpdatedAt, fresh.isPlaceholderData, past.dataUpdatedAt, past.isPlaceholderData]);
}
