// Which runs were asked for just now, so that no click becomes two runs. Decides only; useRunNow asks.

/** Two clicks on the same within this time are one: the result of the first cannot have been read by then. */
const doubled = 500;
/** For so long a click asks again for what was not answered, and not for another run. */
const remembered = 60_000;

export interface RunsAsked {
  /** The key to ask under; undefined where the same was asked for just now, or is still being asked for. */
  begin: (name: string, now: number) => string | undefined;
  answered: (name: string) => void;
  /** It was refused or its outcome is unknown: the next click uses the same key, so that there is at most one run. */
  failed: (name: string) => void;
}

export function runsAsked(newKey: () => string): RunsAsked {
  const asked = new Map<string, { key: string; at: number; state: 'pending' | 'answered' | 'failed' }>();
  const set = (name: string, state: 'answered' | 'failed') => {
    const one = asked.get(name);
    if (one) asked.set(name, { ...one, state });
  };
  return {
    begin: (name, now) => {
      const before = asked.get(name);
      if (before && (before.state === 'pending' || now - before.at < doubled)) return undefined;
      const key = before?.state === 'failed' && now - before.at < remembered ? before.key : newKey();
      asked.set(name, { key, at: now, state: 'pending' });
      return key;
    },
    answered: (name) => set(name, 'answered'),
    failed: (name) => set(name, 'failed'),
  };
}
