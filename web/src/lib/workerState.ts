import type { Worker } from '../api/types.ts';

/** What a worker is called, wherever it is shown. Drained is one that an operator drains and that has no run left. */
export type WorkerState = 'ready' | 'draining' | 'drained' | 'stopping' | 'troubled' | 'away';

/** How far a worker that takes no new runs has come with those that it has; undefined for one that takes them. */
export function drainOf(worker: Pick<Worker, 'draining' | 'running' | 'settings'>): 'draining' | 'drained' | 'stopping' | undefined {
  if (!worker.draining) return undefined;
  if (worker.settings?.drain !== true) return 'stopping';
  return worker.running === 0 ? 'drained' : 'draining';
}

export function workerState(worker: Pick<Worker, 'away' | 'trouble' | 'draining' | 'running' | 'settings'>): WorkerState {
  if (worker.away) return 'away';
  if (worker.trouble) return 'troubled';
  return drainOf(worker) ?? 'ready';
}
