import { useQueryClient } from '@tanstack/react-query';
import { useEffect, useRef, useState } from 'react';
import { batchesOf, doBatch, type Batch, type BulkOrder } from '../../api/bulk.ts';
import { keys } from '../../api/keys.ts';
import { Problem } from '../../api/problem.ts';
import type { BulkItem } from '../../api/types.ts';
import { newKey } from '../../parts/runRequest.ts';

export interface BulkState {
  phase: 'asking' | 'doing' | 'done';
  items: BulkItem[];
  /** Why the action stopped. */
  error: Error | undefined;
  /** Jobs that were not processed. */
  left: number;
}

const start: BulkState = { phase: 'asking', items: [], error: undefined, left: 0 };

/**
 * Merges the results of a repeated request. Completed actions stay completed: a deleted job that is not found by the
 * repetition was not refused.
 */
export function withAnswers(before: readonly BulkItem[], answers: readonly BulkItem[]): BulkItem[] {
  const known = new Map(before.map((item) => [item.name, item]));
  for (const item of answers) {
    if (known.get(item.name)?.result !== 'done') known.set(item.name, item);
  }
  return [...known.values()];
}

/**
 * Applies an action to many jobs, batch by batch, until it is done, stopped, or refused. Unanswered batches can be
 * repeated with the same idempotency key.
 */
export function useBulk() {
  const queries = useQueryClient();
  const [state, setState] = useState<BulkState>(start);
  const waiting = useRef<Batch[]>([]);
  const stopped = useRef(false);
  // No bulk operation continues where the user cannot see or stop it.
  useEffect(() => () => void (stopped.current = true), []);

  const work = async (order: BulkOrder, before: readonly BulkItem[]) => {
    stopped.current = false;
    let items = [...before];
    let error: Error | undefined;
    const again: Batch[] = [];
    setState({ phase: 'doing', items, error: undefined, left: waiting.current.reduce((sum, { jobs }) => sum + jobs.length, 0) });
    for (let batch = waiting.current[0]; batch && !stopped.current; batch = waiting.current[0]) {
      try {
        const done = await doBatch(order, batch);
        items = withAnswers(items, done);
        if (done.some((item) => item.result === 'unknown')) again.push(batch);
        waiting.current.shift();
      } catch (cause) {
        error = cause as Error;
        break;
      }
      const left = waiting.current.reduce((sum, { jobs }) => sum + jobs.length, 0);
      setState({ phase: 'doing', items, error: undefined, left });
    }
    const left = waiting.current.reduce((sum, { jobs }) => sum + jobs.length, 0);
    waiting.current = [...again, ...waiting.current];
    setState({ phase: items.length === 0 && error instanceof Problem ? 'asking' : 'done', items, error, left });
    for (const key of [keys.jobs, keys.groups, keys.labels, keys.runs, keys.fires]) void queries.invalidateQueries({ queryKey: key });
  };

  return {
    state,
    begin: (order: BulkOrder, jobs: readonly string[]) => {
      waiting.current = batchesOf(jobs, newKey);
      void work(order, []);
    },
    /** Continues with the remaining jobs, and repeats batches with an unknown outcome. */
    goOn: (order: BulkOrder) => {
      void work(order, state.items);
    },
    stop: () => {
      stopped.current = true;
    },
    forgetError: () => state.error && state.phase === 'asking' && setState(start),
  };
}
