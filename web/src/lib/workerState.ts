import type { Worker } from '../api/types.ts';

/** State of a worker as displayed. Drained: an operator drains it, and it has no run left. */
export type WorkerState = 'ready' | 'draining' | 'drained' | 'stopping' | 'troubled' | 'away';

/** Drain progress of a worker that takes no new runs; undefined for one that does. */
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

/** The workers that are online, with their slots and those in use. */
export function loadOf(workers: readonly Pick<Worker, 'away' | 'slots' | 'used'>[]): { alive: number; slots: number; used: number } {
  const online = workers.filter((worker) => !worker.away);
  const sum = (of: 'slots' | 'used') => online.reduce((all, worker) => all + worker[of], 0);
  return { alive: online.length, slots: sum('slots'), used: sum('used') };
}
