// Actions on failed fires: acknowledge them, or run them again.

import { useMutation, useQueryClient } from '@tanstack/react-query';
import { client } from './client.ts';
import { keys } from './keys.ts';
import { dataOf } from './problem.ts';
import type { components } from './schema.gen.ts';

export type FireResults = components['schemas']['FireResults'];

export interface FailureOrder {
  fires: readonly string[];
  note: string;
}

/** The most fires of one request. */
export const mostFires = 500;

function useFailureAction<Order, Result>(send: (order: Order) => Promise<Result>) {
  const queries = useQueryClient();
  return useMutation({
    mutationFn: send,
    onSettled: () => Promise.all([keys.runs, keys.fires, keys.troubles, keys.jobs].map((queryKey) => queries.invalidateQueries({ queryKey }))),
  });
}

/** Acknowledges failed fires, or withdraws the acknowledgement. */
export function useAcknowledge() {
  return useFailureAction(({ fires, note, undo }: FailureOrder & { undo?: boolean }) =>
    dataOf(client.POST('/api/v1/fires/acknowledge', { body: { fires: [...fires], ...(note && { note }), ...(undo && { undo }) } })));
}

/** Runs failed fires again; a repeated request with the same key starts no run twice. */
export function useRerun() {
  return useFailureAction(({ fires, note, key }: FailureOrder & { key: string }) =>
    dataOf(client.POST('/api/v1/fires/rerun', { params: { header: { 'Idempotency-Key': key } }, body: { fires: [...fires], ...(note && { note }) } })));
}
