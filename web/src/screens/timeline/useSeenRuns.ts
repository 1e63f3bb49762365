import { useMemo } from 'react';
import { useLiveRuns } from '../../api/live.ts';
import { SeenRuns } from '../../api/seenRuns.ts';
import type { TimelineFilter } from '../../api/timeline.ts';
import type { Run } from '../../api/types.ts';

/** How long a list may take to be made: what was seen in that time may not be on it. */
const making = 5000;

interface Asked<Data> {
  data: Data | undefined;
  dataUpdatedAt: number;
  isPlaceholderData: boolean;
}

/** The runs of the last moments: those that are listed just now, and those that were until a list of the whole stretch has them. */
export function useSeenRuns({ job, group, status }: TimelineFilter, fresh: Asked<Run[]>, past: Asked<unknown>): readonly Run[] {
  const seen = useMemo(() => new SeenRuns(), [job, group, status]);
  useLiveRuns((event) => seen.heard(event, Date.now()));
  return useMemo(() => {
    // What is shown in place of an answer is of another filter.
    if (!fresh.data || fresh.isPlaceholderData) return fresh.data ?? [];
    seen.saw(fresh.data, fresh.dataUpdatedAt);
    // One that has ended meanwhile is no longer what is asked for, where that goes by how runs ended.
    return seen.after(past.isPlaceholderData ? 0 : past.dataUpdatedAt - making).filter((run) => status === undefined || run.status === status);
  }, [seen, status, fresh.data, fresh.dataUpdatedAt, fresh.isPlaceholderData, past.dataUpdatedAt, past.isPlaceholderData]);
}
