import type { Fire } from '../../api/types.ts';

/** A waiting fire, with the other fires that wait for the same reason. */
export interface WaitingRow {
  id: string;
  /** The longest waiting one. */
  fire: Fire;
  count: number;
  /** The oldest fire of each job, if they wait for workers that take no more runs. */
  drained?: Fire[];
}

// Fires that are about to start come last.
const rank = (fire: Fire) => (fire.reason === undefined || fire.reason.code === 'starting' ? 1 : 0);

/** Reports whether a fire would run if workers that drain claimed again. */
export const waitsForDrained = ({ reason }: Pick<Fire, 'reason'>): boolean => reason?.code === 'no_worker' && Number(reason.data?.['draining'] ?? 0) > 0;

/**
 * Longest wait first. A job has one row per reason, however many fires; fires with a run, which can be cancelled, and gaps have one each. A drain is one reason for all jobs.
 */
export function waitingRows(fires: readonly Fire[]): WaitingRow[] {
  const sorted = [...fires].sort((a, b) => rank(a) - rank(b) || Date.parse(a.plannedAt) - Date.parse(b.plannedAt) || a.id.localeCompare(b.id));
  const rows = new Map<string, WaitingRow>();
  for (const fire of sorted) {
    const drained = fire.attempts.length === 0 && waitsForDrained(fire);
    const alone = fire.attempts.length > 0 || (fire.gap !== undefined && !drained);
    const id = alone ? fire.id : drained ? 'drained' : `${fire.job} ${fire.reason?.code ?? ''}`;
    const row = rows.get(id) ?? { id, fire, count: 0, ...(drained && { drained: [] }) };
    row.count += fire.gap?.count ?? 1;
    if (row.drained?.every(({ job }) => job !== fire.job)) row.drained.push(fire);
    rows.set(id, row);
  }
  return [...rows.values()];
}
