// Backfills: past fires of a job that are run on request.

import { keepPreviousData, useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { client } from './client.ts';
import { keys } from './keys.ts';
import { unlessLive } from './live.ts';
import { dataOf } from './problem.ts';
import type { components } from './schema.gen.ts';
import type { RunStatus } from './types.ts';

export type Backfill = components['schemas']['Backfill'];
export type BackfillOrder = components['schemas']['BackfillCreateRequest'];
export type BackfillAct = 'pause' | 'resume' | 'cancel';

/** The backfills of a job, the newest first. */
export function useBackfills(job: string) {
  return useQuery({
    queryKey: keys.backfills(job),
    queryFn: ({ signal }) => dataOf(client.GET('/api/v1/backfills', { params: { query: { job } }, signal })),
    refetchInterval: unlessLive(2000),
  });
}

/** A page of the backfills of all jobs: on the first one those that have not ended, and then those that have. */
export function useAllBackfills(cursor: string) {
  return useQuery({
    queryKey: keys.allBackfills(cursor), placeholderData: keepPreviousData,
    queryFn: ({ signal }) => dataOf(client.GET('/api/v1/backfills', { params: { query: { ended: true, limit: 25, cursor: cursor || undefined } }, signal })),
    refetchInterval: unlessLive(5000),
  });
}

/** Which of the fires of a backfill are read. */
export interface BackfillFires {
  status?: RunStatus | undefined;
  cursor?: string | undefined;
  limit: number;
}

/** A backfill with a page of its fires, and the planned fires that were skipped because of it, which lists leave out; nothing without an id. */
export function useBackfill(id: string | undefined, { status, cursor, limit }: BackfillFires) {
  return useQuery({
    queryKey: keys.backfill(id ?? '', { status, cursor, limit }), enabled: id !== undefined, placeholderData: keepPreviousData,
    queryFn: ({ signal }) => dataOf(client.GET('/api/v1/backfills/{id}', { params: { path: { id: id ?? '' }, query: { limit, status: status && [status], cursor: cursor || undefined } }, signal })),
    refetchInterval: unlessLive(2000),
  });
}

/** Returns which fires a backfill would run; runs none. */
export function previewBackfill(job: string, order: BackfillOrder): Promise<Backfill> {
  return dataOf(client.POST('/api/v1/jobs/{name}/backfills', { params: { path: { name: job } }, body: { ...order, dryRun: true } }));
}

function useChange<Order>(send: (order: Order) => Promise<Backfill>) {
  const queries = useQueryClient();
  return useMutation({ mutationFn: send, onSettled: () => Promise.all([queries.invalidateQueries({ queryKey: keys.runs }), queries.invalidateQueries({ queryKey: keys.fires })]) });
}

export function useStartBackfill(job: string) {
  return useChange((order: BackfillOrder) => dataOf(client.POST('/api/v1/jobs/{name}/backfills', { params: { path: { name: job } }, body: order })));
}

/** Pauses, resumes or cancels a backfill; kill also ends the fires that run. */
export function useBackfillAct() {
  return useChange(({ id, act, kill = false }: { id: string; act: BackfillAct; kill?: boolean }) => {
    const params = { path: { id } };
    if (act === 'pause') return dataOf(client.POST('/api/v1/backfills/{id}/pause', { params }));
    if (act === 'resume') return dataOf(client.POST('/api/v1/backfills/{id}/resume', { params }));
    return dataOf(client.POST('/api/v1/backfills/{id}/cancel', { params, body: { kill } }));
  });
}
