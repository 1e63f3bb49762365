export interface Going {
  status: string;
  claimedAt?: string | undefined;
  startedAt?: string | undefined;
  expectedEndAt?: string | undefined;
}

/** How far a run has come by now, from 0 to 1, and how many seconds are left; undefined where nothing is known of it. Less than none are left where it should have ended. */
export function progressOf(run: Going, now: number): { share: number; left: number; elapsed: number } | undefined {
  const from = Date.parse(run.startedAt ?? run.claimedAt ?? '');
  const to = Date.parse(run.expectedEndAt ?? '');
  if (run.status !== 'running' || Number.isNaN(from) || Number.isNaN(to)) return undefined;
  const share = to > from ? (now - from) / (to - from) : 1;
  return { share: Math.min(1, Math.max(0, share)), left: (to - now) / 1000, elapsed: Math.max(0, now - from) / 1000 };
}
