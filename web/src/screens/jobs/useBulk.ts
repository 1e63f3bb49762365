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
  /** Why it was not gone on with. */
  error: Error | undefined;
  /** Jobs that it did not come to. */
  left: number;
}

const start: BulkState = { phase: 'asking', items: [], error: undefined, left: 0 };

/** What became of the jobs, with what asking again for some of them said. What was done stays done: that a job which was deleted is not found the second time is no refusal. */
export function withAnswers(before: readonly BulkItem[], answers: readonly BulkItem[]): BulkItem[] {
  const known = new Map(before.map((item) => [item.name, item]));
  for (const item of answers) {
    if (known.get(item.name)?.result !== 'done') known.set(item.name, item);
  }
  return [...known.values()];
}

/** Does something with many jobs, batch after batch, until it is done, stopped, or refused. What was not answered can be asked for again: the same under the same key is done once. */
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
    /** Goes on with what was not done, and asks again for what is not known. */
    goOn: (order: BulkOrder) => {
      void work(order, state.items);
    },
    stop: () => {
      stopped.current = true;
    },
    forgetError: () => state.error && state.phase === 'asking' && setState(start),
  };
}
