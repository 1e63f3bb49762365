// Flow runs: their nodes, and answers to their approvals.

import { keepPreviousData, useMutation, useQueries, useQuery, useQueryClient } from '@tanstack/react-query';
import { hasOpenCleanUp } from '../lib/cleanUp.ts';
import { client } from './client.ts';
import { keys } from './keys.ts';
import { unlessLive } from './live.ts';
import { dataOf } from './problem.ts';
import { isTerminal } from './runs.ts';
import type { components } from './schema.gen.ts';
import type { Run } from './types.ts';

export type Approval = components['schemas']['PendingApproval'];

const perPage = 1000;

/** All nodes of a flow run, in the order of its definition; each map is followed by its items. */
export function useRunNodes(id: string, live: boolean, enabled = true) {
  return useQuery({
    queryKey: keys.runNodes(id),
    queryFn: async ({ signal }) => {
      const page = (cursor: string | undefined) => dataOf(client.GET('/api/v1/runs/{id}/nodes', { params: { path: { id }, query: { limit: perPage, cursor } }, signal }));
      const first = await page(undefined);
      const items = [...first.items];
      for (let next = first.nextCursor; next !== undefined; ) {
        const more = await page(next);
        items.push(...more.items);
        next = more.nextCursor;
      }
      return { items, partial: first.partial === true };
    },
    enabled,
    placeholderData: keepPreviousData,
    refetchInterval: live ? unlessLive(1000) : false,
  });
}

export interface Answer {
  run: string;
  step: string;
  approve: boolean;
  note: string;
  /** Values of the parameters of an approval. */
  params?: Record<string, string> | undefined;
}

/** Approves or rejects a step that waits for an operator. */
export function useAnswer() {
  const queryClient = useQueryClient();
  return useMutation({
    mutationFn: ({ run, step, approve, note, params }: Answer) => {
      const request = { params: { path: { id: run } }, body: { step, ...(note !== '' && { note }), ...(params && { params }) } };
      return dataOf(approve ? client.POST('/api/v1/runs/{id}/approve', request) : client.POST('/api/v1/runs/{id}/reject', request));
    },
    onSuccess: () => queryClient.invalidateQueries({ queryKey: keys.runs }),
  });
}

export type RerunOrder = components['schemas']['RunRerunRequest'];

/** Returns what the re-run of a flow run would run and keep; runs nothing. */
export async function previewRerun(run: string, order: RerunOrder) {
  return (await dataOf(client.POST('/api/v1/runs/{id}/rerun', { params: { path: { id: run } }, body: { ...order, dryRun: true } }))).plan;
}

/** Runs the fire of a run again, of a flow run whole or in part, or starts a failed node of a live flow run again. A repeated request with the same key does it once. */
export function useRerunOf(run: string) {
  const queryClient = useQueryClient();
  return useMutation({
    mutationFn: ({ order, key }: { order: RerunOrder; key: string }) =>
      dataOf(client.POST('/api/v1/runs/{id}/rerun', { params: { path: { id: run }, header: { 'Idempotency-Key': key } }, body: order })),
    onSettled: () => Promise.all([keys.runs, keys.fires, keys.troubles, keys.jobs].map((queryKey) => queryClient.invalidateQueries({ queryKey }))),
  });
}

/** Pauses a flow run, or resumes it: a paused one starts no further steps. */
export function usePauseFlowRun() {
  const queryClient = useQueryClient();
  return useMutation({
    mutationFn: ({ run, pause }: { run: string; pause: boolean }) => {
      const request = { params: { path: { id: run } } };
      return dataOf(pause ? client.POST('/api/v1/runs/{id}/pause', request) : client.POST('/api/v1/runs/{id}/resume', request));
    },
    onSettled: () => queryClient.invalidateQueries({ queryKey: keys.runs }),
  });
}

/** The graph of a flow: with a digest that of an earlier definition. */
export function useDefinitionGraph(job: string, digest: string | undefined) {
  return useQuery({
    queryKey: keys.definitionGraph(job, digest ?? ''),
    queryFn: ({ signal }) => dataOf(client.GET('/api/v1/jobs/{name}/graph', { params: { path: { name: job }, query: { digest } }, signal })),
    enabled: digest !== undefined,
    staleTime: Infinity,
    retry: false,
  });
}

/** Reports whether a flow run that is being ended has clean-up steps that have not ended. If its definition is not available, it may have some. */
export function useOpenCleanUp(run: Run | undefined): boolean {
  const ending = run?.digest !== undefined && run.ending !== undefined && !run.spread && !isTerminal(run.status);
  const graph = useDefinitionGraph(run?.job ?? '', ending ? run.digest : undefined);
  const nodes = useRunNodes(run?.id ?? '', ending, ending).data?.items;
  return ending && (graph.isError || hasOpenCleanUp(graph.data?.steps ?? [], nodes ?? []));
}

const columns = 20;

/** The last flow runs of a job, step by step, the newest first. */
export function useGrid(job: string) {
  return useQuery({
    queryKey: keys.grid(job),
    queryFn: ({ signal }) => dataOf(client.GET('/api/v1/jobs/{name}/grid', { params: { path: { name: job }, query: { runs: columns } }, signal })),
    refetchInterval: unlessLive(3000),
  });
}

/** The items of maps in the last flow runs of a job. */
export function useItemGrids(job: string, steps: readonly string[]) {
  return useQueries({
    queries: steps.map((step) => ({
      queryKey: keys.itemGrid(job, step),
      queryFn: ({ signal }: { signal: AbortSignal }) => dataOf(client.GET('/api/v1/jobs/{name}/grid', { params: { path: { name: job }, query: { runs: columns, step } }, signal })),
      refetchInterval: unlessLive(3000),
    })),
    combine: (answers) => answers.flatMap(({ data }) => data ?? []),
  });
}

/** The approvals that wait for an operator, the oldest first; of one flow if given. */
export function useApprovals(job?: string, enabled = true) {
  return useQuery({
    queryKey: keys.approvals(job),
    queryFn: ({ signal }) => dataOf(client.GET('/api/v1/approvals', { params: { query: { job } }, signal })),
    enabled,
    refetchInterval: unlessLive(3000),
  });
}
