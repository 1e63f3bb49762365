// Recent run requests, so that a double click starts one run. Decides only; useRunNow sends them.

/** Two clicks within this time count as one: the user cannot have seen the result of the first. */
const doubled = 500;
/** Within this time a click repeats an unanswered request instead of requesting another run. */
const remembered = 60_000;

export interface RunRequests {
  /** Returns the idempotency key; undefined if the same run was just requested, or the request is still pending. */
  begin: (name: string, now: number) => string | undefined;
  answered: (name: string) => void;
  /**
   * The request was refused or its outcome is unknown: the next click uses the same key, so that there is at most one
   * run.
   */
  failed: (name: string) => void;
}

export function runRequests(newKey: () => string): RunRequests {
  const requests = new Map<string, { key: string; at: number; state: 'pending' | 'answered' | 'failed' }>();
  const set = (name: string, state: 'answered' | 'failed') => {
    const one = requests.get(name);
    if (one) requests.set(name, { ...one, state });
  };
  return {
    begin: (name, now) => {
      const before = requests.get(name);
      if (before && (before.state === 'pending' || now - before.at < doubled)) return undefined;
      const key = before?.state === 'failed' && now - before.at < remembered ? before.key : newKey();
      requests.set(name, { key, at: now, state: 'pending' });
      return key;
    },
    answered: (name) => set(name, 'answered'),
    failed: (name) => set(name, 'failed'),
  };
}
