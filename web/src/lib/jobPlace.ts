import type { JobSearch } from './searchParams.ts';

/** The page that shows the job of a run. */
export interface JobPlace {
  name: string;
  search: JobSearch;
}

/** Returns the page of the job of a run: for an inline step, FLOW:STEP, and for a backfill, JOB@backfill, a tab of the page of its job. */
export function jobPlaceOf(job: string): JobPlace {
  const [flow = '', step] = job.split(':');
  if (step !== undefined) return { name: flow, search: { tab: 'graph', step } };
  const [name = '', kind] = job.split('@');
  return { name, search: kind === 'backfill' ? { tab: 'backfills' } : {} };
}

/** Returns the step and the index of the item, from 0, of a node's name. */
export function nodeOf(node: string): { step: string; item?: number } {
  const [step = '', item] = node.split('@');
  return item === undefined ? { step } : { step, item: Number(item) };
}

/** Returns the fire of a run, whose id is that of the fire with the number of the attempt. */
export const fireOf = (run: string) => run.slice(0, run.lastIndexOf('.'));

/** Reports whether a run is the outcome of a backfill. */
export const isBackfill = ({ job }: { job: string }) => job.endsWith('@backfill');
