// The same done with many jobs, some hundred at a time, so that it is seen how far it has come and can be stopped.

import { client } from './client.ts';
import { dataOf } from './problem.ts';
import type { BulkItem, BulkRequest } from './types.ts';

export const bulkActions = ['run', 'pause', 'resume', 'kill', 'delete'] as const;
export type BulkAction = (typeof bulkActions)[number];

/** What is to be done, without the jobs. */
export type BulkOrder = Pick<BulkRequest, 'action' | 'note' | 'until' | 'kill'>;

/** Some of the jobs, under a key by which the same can be asked for again, should an answer be lost. */
export interface Batch {
  jobs: readonly string[];
  key: string;
}

const size = 250;

export function batchesOf(jobs: readonly string[], newKey: () => string): Batch[] {
  return Array.from({ length: Math.ceil(jobs.length / size) }, (_, i) => ({ jobs: jobs.slice(i * size, (i + 1) * size), key: newKey() }));
}

/** Does it with one batch, and tells of each job what became of it. */
export async function doBatch(order: BulkOrder, { jobs, key }: Batch): Promise<BulkItem[]> {
  const { items } = await dataOf(client.POST('/api/v1/jobs/bulk', { params: { header: { 'Idempotency-Key': key } }, body: { ...order, jobs: [...jobs] } }));
  return items;
}
