import type { Job } from '../../api/types.ts';
import type { IconName } from '../../parts/icons.tsx';

/** One entry of the palette. */
export interface Entry {
  id: string;
  icon: IconName;
  label: string;
  /** Secondary text. */
  detail?: string | undefined;
  /** Further search terms. */
  words?: readonly string[];
  /** The action; absent if there is none yet. */
  act?: (() => void) | undefined;
  /** The job of this entry, which has further actions. */
  job?: Job;
}

export interface Section {
  id: string;
  title: string;
  entries: readonly Entry[];
}

/** An action on a job that continues after the palette is closed. */
export type JobAction = 'run' | 'runWith' | 'pause';

export interface Chosen {
  act: JobAction;
  job: Job;
}
