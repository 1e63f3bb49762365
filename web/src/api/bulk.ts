// Bulk actions on jobs, some hundred per request, so that progress is visible and the action can be stopped.

import { client } from './client.ts';
import { dataOf } from './problem.ts';
import type { BulkItem, BulkRequest } from './types.ts';

export const bulkActions = ['run', 'pause', 'resume', 'kill', 'delete'] as const;
export type BulkAction = (typeof bulkActions)[number];

/** The action, without the jobs. */
export type BulkOrder = Pick<BulkRequest, 'action' | 'note' | 'until' | 'kill'>;

/** A batch of jobs and its idempotency key, which makes it safe to repeat the request after a lost answer. */
export interface Batch {
  jobs: readonly string[];
  key: string;
}

const size = 250;

export function batchesOf(jobs: readonly string[], newKey: () => string): Batch[] {
  return Array.from({ length: Math.ceil(jobs.length / size) }, (_, i) => ({ jobs: jobs.slice(i * size, (i + 1) * size), key: newKey() }));
}

/** Applies the action to one batch and returns a result for each job. */
export async function doBatch(order: BulkOrder, { jobs, key }: Batch): Promise<BulkItem[]> {
  const { items } = await dataOf(client.POST('/api/v1/jobs/bulk', { params: { header: { 'Idempotency-Key': key } }, body: { ...order, jobs: [...jobs] } }));
  return items;
}
