export interface Going {
  status: string;
  claimedAt?: string | undefined;
  startedAt?: string | undefined;
  expectedEndAt?: string | undefined;
}

/**
 * Returns the progress of a run, from 0 to 1, and the seconds left; undefined without statistics. Negative seconds mean
 * that it is overdue.
 */
export function progressOf(run: Going, now: number): { share: number; left: number; elapsed: number } | undefined {
  const from = Date.parse(run.startedAt ?? run.claimedAt ?? '');
  const to = Date.parse(run.expectedEndAt ?? '');
  if (run.status !== 'running' || Number.isNaN(from) || Number.isNaN(to)) return undefined;
  const share = to > from ? (now - from) / (to - from) : 1;
  return { share: Math.min(1, Math.max(0, share)), left: (to - now) / 1000, elapsed: Math.max(0, now - from) / 1000 };
}
