import type { Job } from '../../api/types.ts';
import type { IconName } from '../../parts/icons.tsx';

/** One line of the palette. */
export interface Entry {
  id: string;
  icon: IconName;
  label: string;
  /** Said beside it, and smaller. */
  detail?: string | undefined;
  /** What it is found by besides its label. */
  words?: readonly string[];
  /** What choosing it does; absent where there is nothing to do yet. */
  act?: (() => void) | undefined;
  /** The job that it is, with more that can be done. */
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
