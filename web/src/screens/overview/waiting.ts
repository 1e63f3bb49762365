import type { Fire } from '../../api/types.ts';

/** A waiting fire, with the other fires of its job that wait for the same reason. */
export interface WaitingRow {
  /** The longest waiting one. */
  fire: Fire;
  count: number;
}

// Fires that are about to start come last.
const rank = (fire: Fire) => (fire.reason === undefined || fire.reason.code === 'starting' ? 1 : 0);

/**
 * Longest wait first. A job has one row per reason, however many fires; fires with a run, which can be cancelled, have one each.
 */
export function waitingRows(fires: readonly Fire[]): WaitingRow[] {
  const sorted = [...fires].sort((a, b) => rank(a) - rank(b) || Date.parse(a.plannedAt) - Date.parse(b.plannedAt) || a.id.localeCompare(b.id));
  const rows = new Map<string, WaitingRow>();
  for (const fire of sorted) {
    const alone = fire.attempts.length > 0 || fire.gap !== undefined;
    const key = alone ? fire.id : `${fire.job} ${fire.reason?.code ?? ''}`;
    const row = rows.get(key);
    if (row) row.count++;
    else rows.set(key, { fire, count: 1 });
  }
  return [...rows.values()];
}
